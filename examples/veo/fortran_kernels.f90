! Kernels of fortran.c. Compiled with -g: the helper reads from it that normalise returns a double.
double precision function normalise(x, n)
  integer, intent(in) :: n
  double precision, intent(inout) :: x(n)
  normalise = sqrt(sum(x * x))
  x = x / normalise
end function

function twice(n) bind(c)
  use, intrinsic :: iso_c_binding
  integer(c_long), value :: n
  integer(c_long) :: twice
  twice = 2 * n
end function
