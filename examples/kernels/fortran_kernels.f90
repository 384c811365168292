! The kernel of fortran_main.f90: a number by value, one by reference, and an array.
subroutine scaled_sum(factor, count, values) bind(c)
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  real(c_double), value :: factor
  integer(c_int), intent(in) :: count
  real(c_double), intent(in) :: values(count)
  real(c_double) :: mine, total
  type(MPI_Comm) :: parents
  integer :: rank
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_get_parent(parents)
  mine = factor * sum(values) * (rank + 1)
  call MPI_Reduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) call MPI_Send(total, 1, MPI_DOUBLE_PRECISION, 0, 0, parents)
end subroutine
