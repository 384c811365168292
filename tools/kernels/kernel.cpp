// The kernel that ham-bench kernels starts: five numbers, as in paper 5's measurements, and nothing to do.
extern "C" void five_numbers(double /*a*/, double /*b*/, double /*c*/, double /*d*/, double /*e*/) {}
