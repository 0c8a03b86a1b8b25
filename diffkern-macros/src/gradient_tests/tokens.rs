//! Random tokens: the macros answer with code or an error, never with a panic, names that are written raw among them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use diffkern_fuzz::generate::kernel as generate;
use diffkern_fuzz::print;
use diffkern_fuzz::random::Random;
use diffkern_ir::FuncKind;
use proc_macro2::{Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;

use super::random::{FEATURES, campaign, quietly};
use crate::home::at_home;
use crate::{expand, law, names, record, resume};

/// Which macro is given the tokens.
#[derive(Clone, Copy)]
enum Macro {
    Kernel,
    Function,
    Law,
    Implementation,
    Struct,
    Enum,
    /// A kernel whose structs and enums are known.
    Resume,
}

/// Items for the macros but `#[diff_kernel]`.
const OTHERS: [(Macro, &str); 7] = [
    (Macro::Law, "trait Law { fn force<F: Float>(x: F, r#type: Mat3<F>, end: Option<u32>) -> (F, Mat3<F>); }"),
    (
        Macro::Implementation,
        "impl Law for Spring { fn force<F: Float>(x: F, r#type: Mat3<F>, end: Option<u32>) -> (F, Mat3<F>) {
             let r#loop = if let Some(n) = end { x * F::cast_from(n) } else { -x };
             (r#loop, r#type * r#loop)
         } }",
    ),
    (Macro::Struct, "#[derive(Clone)] pub struct Body<F> { pub x: Vec3<F>, pub r#type: F, n: u32 }"),
    (Macro::Enum, "enum Mode { Zeros, r#try = 3, Border }"),
    (
        Macro::Resume,
        "[::diffkern] { Body [F] { x: Vec3, r#type: real, r#move: struct Pair [F] { a: real } } } ; Body diff_kernel ()
         fn r#fn<F: Float>(b: &mut Array<Body<F>>, r#in: Body<F>, g: Vec3<F>, #[comptime] end: Option<usize>, y: &mut Array<F>) {
             let s = b[ABSOLUTE_POS];
             let (r#loop, (c, d)) = (s.r#type, (r#in.x.x, r#in.r#move.a));
             b[ABSOLUTE_POS] = Body { r#type: r#loop, ..s };
             y[ABSOLUTE_POS] += r#loop * c + d * g.y * F::cast_from(end.unwrap_or(2));
         }",
    ),
    (
        Macro::Resume,
        "[super::dk] { enum Mode { Zeros = 0, r#try = 3 } } ; Mode diff_kernel (vjp = back)
         fn k<F: Float>(#[comptime] r#match: Mode, x: &Array<F>, y: &mut Array<F>) {
             let a = [x[0], 2.0];
             let mut b = a;
             if r#match == Mode::r#try { b = [1.0, a[1]]; }
             y[ABSOLUTE_POS] += match r#match { Mode::Zeros => b[0], Mode::r#try => b[1] };
         }",
    ),
    (
        Macro::Resume,
        "[::diffkern] { Body [r#type] { x: Vec3, n: u32 } } ; Body diff_trait () pub trait Law {
             fn force<F: Float>(r#in: Body<F>) -> Body<F>;
         }",
    ),
];

/// Tokens with one of them changed, or as they were if there are none.
fn mutate(tokens: TokenStream, rng: &mut Random) -> TokenStream {
    let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
    if trees.is_empty() {
        return TokenStream::new();
    }
    let k = rng.below(trees.len());
    if let TokenTree::Group(group) = &trees[k]
        && rng.chance(85)
    {
        let (delimiter, inner) = (group.delimiter(), mutate(group.stream(), rng));
        trees[k] = Group::new(delimiter, inner).into();
        return trees.into_iter().collect();
    }
    const WORDS: [&str; 24] = [
        "x",
        "y",
        "v1",
        "F",
        "if",
        "for",
        "let",
        "mut",
        "else",
        "return",
        "while",
        "loop",
        "break",
        "usize",
        "Vec3",
        "Mat2",
        "ABSOLUTE_POS",
        "detach",
        "select",
        "Array",
        "fn",
        "self",
        "_",
        "Quat",
    ];
    const SIGNS: [char; 16] = ['+', '-', '*', '/', '%', '=', '<', '>', '&', '|', '!', '.', ',', ';', ':', '#'];
    let other: TokenTree = match rng.below(4) {
        0 => Ident::new(rng.word(&WORDS), Span::call_site()).into(),
        1 => Punct::new(*rng.pick(&SIGNS), if rng.chance(50) { Spacing::Joint } else { Spacing::Alone }).into(),
        2 => Literal::u64_unsuffixed(rng.below(1 << 40) as u64).into(),
        _ => trees[rng.below(trees.len())].clone(),
    };
    let same_sort = match &trees[k] {
        TokenTree::Literal(_) => Some(Literal::u32_suffixed(rng.below(70) as u32).into()),
        TokenTree::Punct(p) if rng.chance(50) => Some(Punct::new(*rng.pick(&['+', '-', '*', '/']), p.spacing()).into()),
        TokenTree::Ident(_) => {
            let names: Vec<_> = trees.iter().filter(|t| matches!(t, TokenTree::Ident(_))).collect();
            Some((*rng.pick(&names)).clone())
        }
        _ => None,
    };
    if let Some(tree) = same_sort.filter(|_| rng.chance(50)) {
        trees[k] = tree;
        return trees.into_iter().collect();
    }
    match rng.below(4) {
        0 => drop(trees.remove(k)),
        1 => trees.insert(k, other),
        2 => trees[k] = other,
        _ => {
            let with = rng.below(trees.len());
            trees.swap(k, with);
        }
    }
    trees.into_iter().collect()
}

/// A name of the tokens, or one of them, as a raw name: a keyword, or the name itself.
fn made_raw(tokens: TokenStream, rng: &mut Random) -> TokenStream {
    let mut all = Vec::new();
    fn collect(tokens: &TokenStream, all: &mut Vec<String>) {
        for tree in tokens.clone() {
            match tree {
                TokenTree::Ident(name) => all.push(name.to_string()),
                TokenTree::Group(group) => collect(&group.stream(), all),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    collect(&tokens, &mut all);
    let of = rng.pick(&all).clone();
    let letters =
        if rng.chance(70) { *rng.pick(&["type", "loop", "move", "gen", "F"]) } else { of.trim_start_matches("r#") };
    if matches!(letters, "self" | "Self" | "super" | "crate" | "_") {
        return tokens;
    }
    let share = if rng.chance(70) { 100 } else { 50 };
    fn renamed(tokens: TokenStream, of: &str, to: &Ident, share: usize, rng: &mut Random) -> TokenStream {
        let tree = |tree: TokenTree| match tree {
            TokenTree::Ident(name) if name == of && rng.chance(share) => TokenTree::Ident(to.clone()),
            TokenTree::Group(group) => {
                Group::new(group.delimiter(), renamed(group.stream(), of, to, share, rng)).into()
            }
            other => other,
        };
        tokens.into_iter().map(tree).collect()
    }
    renamed(tokens, &of, &Ident::new_raw(letters, Span::call_site()), share, rng)
}

#[test]
fn random_tokens_never_make_the_macro_panic() -> Result<(), String> {
    let (found, accepted) = quietly(token_search);
    match found {
        Some((seed, item)) => Err(format!("seed {seed}: the macro panics on {item}")),
        None if accepted < 50 * campaign() => {
            Err(format!("only {accepted} items were accepted: the search sees errors only"))
        }
        None => Ok(()),
    }
}

/// What the macro makes of the tokens.
fn run(which: Macro, args: TokenStream, tokens: TokenStream) -> TokenStream {
    let kind = if matches!(which, Macro::Kernel) { FuncKind::Kernel } else { FuncKind::DiffFn };
    match which {
        Macro::Kernel | Macro::Function => at_home(args, tokens, |args, item| expand::expand(args, item, kind)),
        Macro::Law => at_home(args, tokens, law::expand_trait),
        Macro::Implementation => at_home(args, tokens, law::expand_impl),
        Macro::Struct => at_home(args, tokens, record::declare),
        Macro::Enum => at_home(args, tokens, record::declare_enum),
        Macro::Resume => resume::resume(tokens),
    }
}

/// The first item on which the macro panicked, if any, and how many it accepted.
fn token_search() -> (Option<(u64, String)>, u64) {
    let mut accepted = 0;
    for seed in 0..2_000 * campaign() {
        let mut rng = Random::new(seed);
        let (which, source) = match rng.below(10) {
            0 => (Macro::Kernel, (*rng.pick(&print::LIBRARY)).to_owned()),
            1 => (Macro::Function, (*rng.pick(&print::LIBRARY)).to_owned()),
            2..5 => {
                let (which, source) = *rng.pick(&OTHERS);
                (which, source.to_owned())
            }
            _ => (Macro::Kernel, print::kernel(&generate(seed, FEATURES), "k")),
        };
        let mut tokens: TokenStream = source.parse().expect("the source is tokens");
        for _ in 0..rng.below(3) {
            tokens = mutate(tokens, &mut rng);
        }
        for _ in 0..rng.below(3) {
            tokens = made_raw(tokens, &mut rng);
        }
        let given = "vjp = f, crate = a::b, x".parse().expect("tokens");
        let args = if rng.chance(90) { TokenStream::new() } else { mutate(given, &mut rng) };
        let text = tokens.to_string();
        match catch_unwind(AssertUnwindSafe(|| run(which, args, tokens).to_string())) {
            Ok(code) => accepted += u64::from(!code.contains("compile_error")),
            Err(_) => return (Some((seed, text)), accepted),
        }
    }
    (None, accepted)
}

/// What is accepted as it stands: the search begins with items, not with mistakes.
#[test]
fn the_items_with_raw_names_have_no_mistakes() {
    for (which, source) in OTHERS {
        let made = run(which, TokenStream::new(), source.parse().unwrap());
        assert!(!made.to_string().contains("compile_error"), "{made}");
        let file: Result<syn::File, _> = syn::parse2(made.clone());
        assert!(file.is_ok(), "{made}");
    }
}

/// A raw name is the name, wherever it need not be raw.
#[test]
fn raw_names_change_nothing() {
    let plain = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>) { let v = x[0]; y[ABSOLUTE_POS] = v.sin(); }";
    let raw = "fn r#k<r#F: r#Float>(x: &r#Array<F>, y: &mut Array<r#F>) { let r#v = r#x[0]; r#y[r#ABSOLUTE_POS] = v.r#sin(); }";
    let made = |text: &str| {
        let item: TokenStream = text.parse().unwrap();
        let hidden = names::hidden("kernel", &syn::parse2::<syn::ItemFn>(item.clone()).unwrap().sig.ident.unraw());
        // Its place is that in the text of this call.
        run(Macro::Kernel, TokenStream::new(), item).to_string().replace(&hidden.to_string(), "hidden")
    };
    assert_eq!(made(plain), made(raw));
    assert_eq!(names::plain(raw.parse().unwrap()).to_string(), plain.parse::<TokenStream>().unwrap().to_string());
}

/// With `crate = path` nothing that is generated looks for the crate by its own name.
#[test]
fn another_path_to_the_crate_is_the_only_one() {
    fn names_it(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|tree| match tree {
            TokenTree::Ident(name) => name == "diffkern",
            TokenTree::Group(group) => names_it(group.stream()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        })
    }
    let kernel = (Macro::Kernel, print::kernel(&generate(3, FEATURES), "k"));
    let function = print::LIBRARY.map(|source| (Macro::Function, source.to_owned()));
    let others = OTHERS.map(|(which, source)| (which, source.replace("[::diffkern]", "[a::dk]")));
    let at = || "crate = a::dk".parse().unwrap();
    for (which, source) in others.into_iter().chain(function).chain([kernel]) {
        let made = run(which, at(), source.parse().unwrap());
        assert!(!names_it(made.clone()), "{made}");
        assert!(!made.to_string().contains("compile_error"), "{made}");
    }
}
