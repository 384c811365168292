! MPI kernels from Fortran, in Fortran: mpirun -n 2 ./fortran_main ./fortran_kernels
program fortran_main
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use mpix_kernel_f08
  implicit none
  type(MPI_Comm) :: children
  type(MPIX_Kernel_status) :: status
  character(len=512) :: program_name
  real(c_double), target :: factor = 2.5, values(4) = [1.0, 2.0, 3.0, 4.0]
  integer(c_int), target :: count = 4
  type(c_ptr) :: args(3)
  integer(c_int) :: sizes(3)
  real(c_double) :: total
  integer :: rank

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, program_name)
  call MPI_Comm_spawn(trim(program_name), MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, &
                      MPI_ERRCODES_IGNORE)
  args = [c_loc(factor), c_loc(count), c_loc(values)]
  sizes = [int(c_sizeof(factor), c_int), int(c_sizeof(count), c_int), int(c_sizeof(values), c_int)]
  call MPIX_Kernel_call("scaled_sum", 3, args, sizes, 0, MPI_COMM_WORLD, children)
  if (rank == 0) then
    call MPI_Recv(total, 1, MPI_DOUBLE_PRECISION, 0, 0, children, MPI_STATUS_IGNORE)
    print '(a, f8.2)', "the children say", total
  end if
  call MPIX_Kernel_call("absent", 0, args, sizes, 0, MPI_COMM_WORLD, children)
  call MPIX_Kernel_waitall(0, MPI_COMM_WORLD, children, status)
  if (rank == 0 .and. status%error == MPIX_KERNEL_UNKNOWN) print '(a)', trim(MPIX_Kernel_text(status))
  call MPIX_Kernel_call("", 0, args, sizes, 0, MPI_COMM_WORLD, children)
  call MPI_Comm_disconnect(children)
  call MPI_Finalize()
end program
