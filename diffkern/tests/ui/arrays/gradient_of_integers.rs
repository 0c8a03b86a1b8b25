use diffkern::prelude::*;

fn main() -> Result<()> {
    let cells = Device::cpu().array(&[1u32, 2, 3])?.requires_grad();
    drop(cells);
    Ok(())
}
