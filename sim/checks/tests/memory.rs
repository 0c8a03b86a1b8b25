//! Rollouts within budgets of memory: the same bits as with every tape kept, at the cost that was announced.

use diffkern::prelude::*;
use diffkern::{Report, Schedule};
use diffkern_sim::Result;
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{Contact, Dim3, Grid, HalfSpace, Law, Model, Params, State, mean_square_distance};

const N: usize = 500;
const STEPS: usize = 300;
/// Particle spacing \[m\].
const H: f64 = 0.01;

struct Scene {
    model: Model<Dim3, f32>,
    start: State<Dim3, f32>,
    params: Params<Dim3, f32>,
}

impl Scene {
    /// A block of 5 x 10 x 10 particles that falls on a rough floor.
    fn new() -> Result<Scene> {
        let device = Device::cpu();
        let grid = Grid::new([-3.0 * 2.0 * H; 3], 2.0 * H, [12, 14, 14])?;
        let floor = HalfSpace::through([0.0; 3], [0.0, 0.0, 1.0], Contact::Penalty { stiffness: 1e6 });
        let floor = [floor.with_friction(0.3)];
        let model = Model::new(&device, grid, 4e-4, Law::NeoHookean, &floor)?.with_contact_spacing(H)?;
        let at = |p: usize| [p / 100, p / 10 % 10, p % 10].map(|k| (k as f64 + 0.8) * H);
        let x: Vec<_> = (0..N).map(|p| Vec3::from_array(at(p).map(|x| x as f32))).collect();
        let start = State::undeformed(&device, &x, &vec![Vec3::new(0.2, 0.1, -0.3); N])?;
        let mut params = Params::uniform(&device, 5e3, 1e4, 1e3, H.powi(3), [0.0, 0.0, -9.81])?;
        params.mu = device.full(N, 5e3f32)?.requires_grad();
        Ok(Scene { model, start: State { v: start.v.requires_grad(), ..start }, params })
    }

    /// Bits of the loss and of its gradients by moduli and initial velocities.
    fn gradient(&self, schedule: Schedule) -> Result<(Vec<u32>, Report)> {
        self.params.mu.zero_grad();
        self.start.v.zero_grad();
        let (tape, loss) = Tape::record_value(|| {
            let end = self.model.solver(&self.params, N)?.advance(&self.start, 0, STEPS, schedule)?;
            mean_square_distance::<Dim3, f32>(&end.x, [0.1, 0.05, 0.05])
        })?;
        tape.backward(&loss)?;
        let mut values = loss.to_vec()?;
        values.extend(self.params.mu.grad()?.to_vec()?);
        values.extend(self.start.v.grad()?.to_vec()?.into_iter().flat_map(Vec3::to_array));
        assert!(values.iter().all(|v| v.is_finite()) && values[1..].iter().any(|&v| v != 0.0));
        Ok((values.into_iter().map(f32::to_bits).collect(), tape.report()))
    }
}

#[test]
fn budgets_change_the_cost_and_not_a_bit() -> Result<()> {
    let scene = Scene::new()?;
    let (expected, all) = scene.gradient(Schedule::StoreAll)?;
    assert_eq!(all.rollouts[0].measured_factor, 1.0);
    let mut former = 1.0;
    for budget in [all.peak_bytes / 4, all.peak_bytes / 16, all.peak_bytes / 40] {
        let (bits, report) = scene.gradient(Schedule::Budget(budget))?;
        let rollout = &report.rollouts[0];
        assert!(bits == expected, "a budget of {budget} bytes gives other bits");
        assert_eq!(rollout.predicted_factor, rollout.measured_factor, "{report}");
        let predicted = rollout.predicted_bytes.expect("a prediction for a budget");
        assert!(report.peak_bytes <= predicted && predicted <= budget, "budget {budget}: {report}");
        // A budget is used, and less memory is paid for by more steps.
        assert!(report.peak_bytes > budget / 2, "budget {budget}: {report}");
        assert!(rollout.measured_factor > former, "budget {budget}: {report}");
        former = rollout.measured_factor;
    }
    Ok(())
}

#[test]
fn a_budget_for_less_than_one_step_is_refused_with_what_is_needed() -> Result<()> {
    let scene = Scene::new()?;
    let message = scene.gradient(Schedule::Budget(10_000)).expect_err("too little").to_string();
    for part in ["9.8 KiB are too few", "give at least"] {
        assert!(message.contains(part), "{message}");
    }
    Ok(())
}
