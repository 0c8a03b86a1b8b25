//! The text form: what is read, and what is refused.

use diffkern_ir::{Func, Id, Lit, Op, ParseError, StmtKind, Ty, parse, print, with_names};

const HEAD: &str = "fn k\narray 0 read vec3 x\narray 1 store real y owned\nscalar 2 %0 u32 n\nbody\n";

fn program(body: &str) -> Result<Func, ParseError> {
    parse(&format!("{HEAD}{body}"))
}

#[test]
fn a_program_with_every_kind_of_statement() {
    let func = program(
        "%1 : usize = pos
         %2 : vec3 = load 0 %1 @3
         %3 : real = const 1e-3
         %4 : u32 = const 0
         stack 0 real %0
         for %5 : u32 = %4 .. %0 carry %6 : real = %3 , %7 : vec3 = %2 -> %8 %9 {
         push 0 %5 %6
         %10 : real = mul %6 %6
         %11 : bool = lt %10 %3
         if %11 -> %12 : vec3 {
         %13 : vec3 = scale %7 %10
         yield %13
         } else {
         yield %7
         }
         yield %10 %12
         }
         %14 : real = peek 0 %4
         call 0 vjp ( %14 #0 %9 ) -> %15 : real , %16 : vec3
         %17 : real = extract %16 2
         store 1 %1 %17 @9",
    )
    .unwrap();
    assert_eq!((func.name.as_str(), func.params.len(), func.stacks), ("k", 3, 1));
    assert_eq!(func.ty(Id(9)), Ty::Vec(3));
    assert!(matches!(func.body.stmts[2].kind, StmtKind::Let { op: Op::Const(Lit::Real(v)), .. } if v == 1e-3));
    assert_eq!(func.body.stmts[1].node.0, 3);
    let text = print(&func, &|node| node.0 as usize);
    assert_eq!(print(&parse(&text).unwrap(), &|node| node.0 as usize), text);
}

#[test]
fn every_mistake_names_its_line() {
    let table = [
        ("%1 : usize = pos\n%2 : real = load 0 %1 @3", "a real from an array of vec3"),
        ("%1 : usize = pos\n%1 : usize = pos", "%1 is defined twice"),
        ("store 1 %0 %7 @3", "%7 is not defined"),
        ("%1 : usize = sin %0", "operands of the wrong type for a usize"),
        ("%1 : real = frobnicate %0", "unknown operation `frobnicate`"),
        ("add 1 %0 %0 @3", "declared Store and used as Add"),
        ("%1 : bool = lt %0 %0\nif %1 {\n}", "an `if` without `} else {`"),
        ("%1 : real = const one", "`one` is not a real"),
        ("%1 : real = peek 0 %0", "stack 0 is not defined"),
        ("for %1 : u32 = %0 .. %0 {\n%2 : u32 = add %1 %1\n}\n%3 : u32 = add %2 %2", "a block that has ended"),
    ];
    for (body, message) in table {
        let error = program(body).unwrap_err();
        assert!(error.message.contains(message), "{error} should say: {message}");
        assert!(error.line >= 6, "{error}");
    }
}

#[test]
fn names_stand_before_numbers_and_say_nothing() {
    let plain = print(&program("%1 : usize = pos\n%10 : u32 = cast %1").unwrap(), &|_| 0);
    let named = with_names(&plain, |id| (id == Id(1)).then_some("i_bar"));
    assert!(named.ends_with("body\n%i_bar.1 : usize = pos\n%10 : u32 = cast %i_bar.1\n"), "{named}");
    assert!(named.contains("scalar 2 %0 u32 n"), "{named}");
    assert_eq!(print(&parse(&named).unwrap(), &|_| 0), plain);
}
