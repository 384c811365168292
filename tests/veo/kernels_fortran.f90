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
