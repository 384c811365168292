! Kernels in Fortran: arguments by reference and by value.
integer function add_up(numbers, n)
  integer :: n
  integer :: numbers(n)
  add_up = sum(numbers)
  numbers = numbers + 1
end function

integer(c_long) function by_value(x) bind(c, name="by_value")
  use iso_c_binding
  integer(c_long), value :: x
  by_value = 3 * x
end function

real(8) function times(x, n)
  real(8) :: x
  integer :: n
  times = x * n
end function

real(c_double) function scale_by_value(x, n, f) bind(c, name="scale_by_value")
  use iso_c_binding
  real(c_double), value :: x
  integer(c_int), value :: n
  real(c_float), value :: f
  scale_by_value = x * n + f
end function
