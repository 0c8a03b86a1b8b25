//! A short campaign of changed inputs. As a test it has the features of all others, so that nothing is built for it alone.

use std::path::Path;
use std::process::Command;

#[test]
fn changed_inputs_are_accepted_or_refused() -> std::io::Result<()> {
    let campaign = Path::new(env!("CARGO_BIN_EXE_mutate_inputs"));
    let folder = std::env::temp_dir().join(format!("diffkern-changed-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let mut command = Command::new(campaign);
    command.args(["--count", "40"]).current_dir(&folder);
    // Where it was not built along, the campaign builds it.
    let program = campaign.with_file_name("diffkern");
    if program.exists() {
        command.arg("--program").arg(program);
    }
    let output = command.output()?;
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success() && said[0].contains("| input | by | accepted | refused | failed |"), "{said:?}");
    std::fs::remove_dir_all(folder)
}
