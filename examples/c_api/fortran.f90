! fortran: a program in Fortran whose targets execute a function in Fortran on an array in their memory.
! expect: scaled on node 1: +2\.0 +4\.0 +6\.0
! expect: error 4: .*no function is called "shrink"
module functions
  use ham
  implicit none

  type, bind(c) :: scaling
     type(ham_buffer) :: array
     integer(c_int64_t) :: count
     real(c_double) :: factor
  end type scaling

contains

  ! Multiplies the elements of an array, where it lies.
  function scale_array(argument, bytes, reply, user) bind(c) result(code)
    type(c_ptr), value :: argument, reply, user
    integer(c_size_t), value :: bytes
    integer(c_int) :: code
    type(scaling), pointer :: what
    real(c_double), pointer :: elements(:)
    type(c_ptr) :: address
    if (c_associated(user) .or. bytes /= c_sizeof(what)) then
       code = ham_fail(reply, ham_name("a scaling is expected"))
       return
    end if
    call c_f_pointer(argument, what)
    code = ham_local(what%array, address)
    if (code /= HAM_OK) return
    call c_f_pointer(address, elements, [what%count])
    elements = what%factor * elements
    code = 0
  end function scale_array

end module functions

program fortran
  use functions
  implicit none
  real(c_double), target :: x(3) = [1, 2, 3]
  type(scaling), target :: what
  integer(c_size_t) :: bytes, none
  integer(c_int) :: status

  call check(ham_register(ham_name("scale"), c_funloc(scale_array), c_null_ptr))
  call check(ham_start(c_null_ptr, c_null_ptr))   ! targets do not come back from here

  bytes = c_sizeof(x)
  call check(ham_allocate(1, bytes, what%array))
  call check(ham_put(c_loc(x), what%array, 0_c_size_t, bytes))
  what%count = size(x)
  what%factor = 2
  call check(ham_call(1, ham_name("scale"), c_loc(what), c_sizeof(what), -1_c_int64_t, c_null_ptr, 0_c_size_t, none))
  call check(ham_get(what%array, 0_c_size_t, c_loc(x), bytes))
  print '(a, 3f6.1)', "scaled on node 1:", x

  status = ham_call(1, ham_name("shrink"), c_null_ptr, 0_c_size_t, -1_c_int64_t, c_null_ptr, 0_c_size_t, none)
  print '(a, i0, 2a)', "error ", status, ": ", ham_message()
  call check(ham_free(what%array))
  call check(ham_finish())

contains

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == HAM_OK) return
    print '(a)', ham_message()
    error stop 1
  end subroutine check

end program fortran
