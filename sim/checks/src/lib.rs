//! Every kernel of the simulators at random interior points. Each is launched a few times and takes the compiler long, so this
//! package is built without optimisation.
