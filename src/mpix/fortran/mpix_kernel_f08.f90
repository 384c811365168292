! Module mpix_kernel_f08: the calls of ham/mpix_kernel.h for Fortran 2008, with the handles of mpi_f08. Arguments of a kernel
! are addresses, c_loc(x) of variables with the attribute target, and sizes in bytes, c_sizeof(x).
module mpix_kernel_f08
  use, intrinsic :: iso_c_binding
  use mpi_f08, only: MPI_Comm
  implicit none
  private

  integer, parameter, public :: MPIX_KERNEL_OK = 0, MPIX_KERNEL_UNKNOWN = 1, MPIX_KERNEL_MISMATCH = 2, &
                                MPIX_KERNEL_UNTYPED = 3, MPIX_KERNEL_CRASHED = 4, MPIX_KERNEL_EXCEPTION = 5, &
                                MPIX_KERNEL_NOT_RUN = 6

  type, bind(c), public :: MPIX_Kernel_status
    integer(c_int) :: error, rank, signal, reserved
    integer(c_long_long) :: result
    character(kind=c_char) :: kernel(64), text(256)
  end type

  type, bind(c), public :: MPIX_Kernel_request
    type(c_ptr) :: handle = c_null_ptr
  end type

  public :: MPIX_Kernel_call, MPIX_Kernel_call_multiple, MPIX_Kernel_icall, MPIX_Kernel_wait, MPIX_Kernel_test, &
            MPIX_Kernel_waitall, MPIX_Kernel_text

  interface
    integer(c_int) function c_call_multiple(count, names, argcounts, args, argsizes, root, comm, intercomm) &
        bind(c, name="ham_mpix_fortran_call_multiple")
      import
      integer(c_int), value :: count, root, comm, intercomm
      type(c_ptr), intent(in) :: names(*), args(*), argsizes(*)
      integer(c_int), intent(in) :: argcounts(*)
    end function
    integer(c_int) function c_icall_multiple(count, names, argcounts, args, argsizes, root, comm, intercomm, request) &
        bind(c, name="ham_mpix_fortran_icall_multiple")
      import
      integer(c_int), value :: count, root, comm, intercomm
      type(c_ptr), intent(in) :: names(*), args(*), argsizes(*)
      integer(c_int), intent(in) :: argcounts(*)
      type(MPIX_Kernel_request) :: request
    end function
    integer(c_int) function c_waitall(root, comm, intercomm, status) bind(c, name="ham_mpix_fortran_waitall")
      import
      integer(c_int), value :: root, comm, intercomm
      type(MPIX_Kernel_status) :: status
    end function
    integer(c_int) function c_wait(request, statuses) bind(c, name="MPIX_Kernel_wait")
      import
      type(MPIX_Kernel_request) :: request
      type(MPIX_Kernel_status) :: statuses(*)
    end function
    integer(c_int) function c_test(request, flag, statuses) bind(c, name="MPIX_Kernel_test")
      import
      type(MPIX_Kernel_request) :: request
      integer(c_int) :: flag
      type(MPIX_Kernel_status) :: statuses(*)
    end function
  end interface

contains

  subroutine MPIX_Kernel_call(kernelname, argcount, args, argsizes, root, comm, intercomm, ierror)
    character(len=*), intent(in) :: kernelname
    integer, intent(in) :: argcount, root
    type(c_ptr), intent(in), target :: args(*)
    integer(c_int), intent(in), target :: argsizes(*)
    type(MPI_Comm), intent(in) :: comm, intercomm
    integer, optional, intent(out) :: ierror
    character(len=len(kernelname) + 1, kind=c_char), target :: name
    integer :: code
    name = trim(kernelname) // c_null_char
    code = c_call_multiple(1, [c_loc(name)], [int(argcount, c_int)], [c_loc(args)], [c_loc(argsizes)], root, &
                           comm%mpi_val, intercomm%mpi_val)
    if (present(ierror)) ierror = code
  end subroutine

  ! array_of_args(i) and array_of_argsizes(i) are addresses of arrays, type(c_ptr) and integer(c_int), for kernel i.
  subroutine MPIX_Kernel_call_multiple(count, array_of_kernelname, array_of_argcount, array_of_args, array_of_argsizes, &
                                       root, comm, intercomm, ierror)
    integer, intent(in) :: count, root
    character(len=*), intent(in) :: array_of_kernelname(count)
    integer(c_int), intent(in) :: array_of_argcount(count)
    type(c_ptr), intent(in) :: array_of_args(count), array_of_argsizes(count)
    type(MPI_Comm), intent(in) :: comm, intercomm
    integer, optional, intent(out) :: ierror
    character(len=len(array_of_kernelname) + 1, kind=c_char), target :: names(count)
    type(c_ptr) :: name_list(count)
    integer :: code, i
    do i = 1, count
      names(i) = trim(array_of_kernelname(i)) // c_null_char
      name_list(i) = c_loc(names(i))
    end do
    code = c_call_multiple(count, name_list, array_of_argcount, array_of_args, array_of_argsizes, root, comm%mpi_val, &
                           intercomm%mpi_val)
    if (present(ierror)) ierror = code
  end subroutine

  subroutine MPIX_Kernel_icall(kernelname, argcount, args, argsizes, root, comm, intercomm, request, ierror)
    character(len=*), intent(in) :: kernelname
    integer, intent(in) :: argcount, root
    type(c_ptr), intent(in), target :: args(*)
    integer(c_int), intent(in), target :: argsizes(*)
    type(MPI_Comm), intent(in) :: comm, intercomm
    type(MPIX_Kernel_request), intent(out) :: request
    integer, optional, intent(out) :: ierror
    character(len=len(kernelname) + 1, kind=c_char), target :: name
    integer :: code
    name = trim(kernelname) // c_null_char
    code = c_icall_multiple(1, [c_loc(name)], [int(argcount, c_int)], [c_loc(args)], [c_loc(argsizes)], root, &
                            comm%mpi_val, intercomm%mpi_val, request)
    if (present(ierror)) ierror = code
  end subroutine

  subroutine MPIX_Kernel_wait(request, statuses, ierror)
    type(MPIX_Kernel_request), intent(inout) :: request
    type(MPIX_Kernel_status), intent(inout) :: statuses(*)
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_wait(request, statuses)
    if (present(ierror)) ierror = code
  end subroutine

  subroutine MPIX_Kernel_test(request, flag, statuses, ierror)
    type(MPIX_Kernel_request), intent(inout) :: request
    logical, intent(out) :: flag
    type(MPIX_Kernel_status), intent(inout) :: statuses(*)
    integer, optional, intent(out) :: ierror
    integer(c_int) :: done
    integer :: code
    code = c_test(request, done, statuses)
    flag = done /= 0
    if (present(ierror)) ierror = code
  end subroutine

  subroutine MPIX_Kernel_waitall(root, comm, intercomm, status, ierror)
    integer, intent(in) :: root
    type(MPI_Comm), intent(in) :: comm, intercomm
    type(MPIX_Kernel_status), intent(out) :: status
    integer, optional, intent(out) :: ierror
    integer :: code
    code = c_waitall(root, comm%mpi_val, intercomm%mpi_val, status)
    if (present(ierror)) ierror = code
  end subroutine

  ! The text of a status as a Fortran string.
  function MPIX_Kernel_text(status) result(text)
    type(MPIX_Kernel_status), intent(in) :: status
    character(len=256) :: text
    integer :: i
    text = ""
    do i = 1, 256
      if (status%text(i) == c_null_char) exit
      text(i:i) = status%text(i)
    end do
  end function

end module
