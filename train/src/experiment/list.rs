//! From a list of experiments to what is read, run and documented.

/// Makes [`Experiment`](super::Experiment) of its rows: a module and the struct in it, whose documentation, fields and defaults are those of
/// the command line and of RON files.
macro_rules! experiments {
    ($($module:ident: $name:ident,)+) => {
        $(mod $module;)+
        $(pub use $module::$name;)+

        /// An experiment, written `Identify(folder: "..", ..)` in RON.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, clap::Subcommand)]
        #[serde(deny_unknown_fields)]
        pub enum Experiment {
            $(
                #[allow(missing_docs, reason = "those of the struct")]
                $name($name),
            )+
        }

        impl Experiment {
            fn job(&self) -> &dyn Job {
                match self {
                    $(Self::$name(job) => job,)+
                }
            }

            fn folder_mut(&mut self) -> &mut PathBuf {
                match self {
                    $(Self::$name(job) => &mut job.folder,)+
                }
            }
        }
    };
}

pub(super) use experiments;
