//! From a list of experiments to what is read, run and documented.

/// Makes [`Experiment`](super::Experiment) of its rows: a module and the struct in it, whose documentation, fields and defaults are those of
/// the command line and of RON files. All have the fields `folder`, `out`, `allow_outside`, `max_time` and `max_memory`.
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

            /// Paths in it, by field.
            fn paths(&self) -> [(&'static str, Option<&Path>); 2] {
                match self {
                    $(Self::$name(job) => [("folder", Some(&job.folder)), ("out", job.out.as_deref())],)+
                }
            }
        }

        $(impl $name {
            /// Which files the scene may name.
            pub fn access(&self) -> Access {
                Access::of(self.allow_outside)
            }

            /// What it may take.
            pub fn limits(&self) -> Limits {
                Limits { max_time: self.max_time, max_memory: self.max_memory }
            }
        })+
    };
}

pub(super) use experiments;
