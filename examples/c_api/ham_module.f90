! The module ham: ham/ham.h for Fortran. Copy it into your program; link libham.
!
! Functions return the codes of ham_status_code; ham_message() is the text of the last error. Names are passed with
! ham_name(text), which adds the zero that C expects.
module ham
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: HAM_OK = 0, HAM_ERROR = 1, HAM_ERROR_ARGUMENT = 2, HAM_ERROR_CONFIG = 3, &
       HAM_ERROR_CALL = 4, HAM_ERROR_BUFFER = 5, HAM_ERROR_NODE_FAILURE = 6, HAM_ERROR_DEADLINE = 7, &
       HAM_ERROR_FUNCTION = 8, HAM_ERROR_EXCEPTION = 9, HAM_ERROR_MEMORY = 10, HAM_ERROR_TRUNCATED = 11, HAM_NOT_YET = 12, &
       HAM_ERROR_CANCELLED = 13, HAM_ERROR_STAGE = 14

  type, bind(c) :: ham_buffer
     integer(c_int64_t) :: address = 0, tag = 0, size = 0
     integer(c_int32_t) :: node = -1
  end type ham_buffer

  abstract interface
     ! integer(c_int) function f(argument, bytes, reply, user) bind(c)
     function ham_function(argument, bytes, reply, user) bind(c) result(code)
       import :: c_ptr, c_size_t, c_int
       type(c_ptr), value :: argument, reply, user
       integer(c_size_t), value :: bytes
       integer(c_int) :: code
     end function ham_function
  end interface

  interface
     function ham_register(name, function, user) bind(c) result(status)
       import :: c_char, c_funptr, c_ptr, c_int
       character(kind=c_char), intent(in) :: name(*)
       type(c_funptr), value :: function
       type(c_ptr), value :: user
       integer(c_int) :: status
     end function ham_register

     function ham_set_result(reply, bytes, size) bind(c) result(status)
       import :: c_ptr, c_size_t, c_int
       type(c_ptr), value :: reply, bytes
       integer(c_size_t), value :: size
       integer(c_int) :: status
     end function ham_set_result

     function ham_fail(reply, text) bind(c) result(status)
       import :: c_ptr, c_char, c_int
       type(c_ptr), value :: reply
       character(kind=c_char), intent(in) :: text(*)
       integer(c_int) :: status
     end function ham_fail

     ! Of a Fortran program both arguments are c_null_ptr: the command line is found by itself.
     function ham_start(argc, argv) bind(c) result(status)
       import :: c_ptr, c_int
       type(c_ptr), value :: argc, argv
       integer(c_int) :: status
     end function ham_start

     function ham_start_nodes(nodes) bind(c) result(status)
       import :: c_char, c_int
       character(kind=c_char), intent(in) :: nodes(*)
       integer(c_int) :: status
     end function ham_start_nodes

     function ham_finish() bind(c) result(status)
       import :: c_int
       integer(c_int) :: status
     end function ham_finish

     function ham_num_nodes() bind(c) result(nodes)
       import :: c_int32_t
       integer(c_int32_t) :: nodes
     end function ham_num_nodes

     function ham_this_node() bind(c) result(node)
       import :: c_int32_t
       integer(c_int32_t) :: node
     end function ham_this_node

     function ham_call(node, name, argument, bytes, timeout_ms, result, space, result_bytes) bind(c) result(status)
       import :: c_char, c_ptr, c_size_t, c_int, c_int32_t, c_int64_t
       integer(c_int32_t), value :: node
       character(kind=c_char), intent(in) :: name(*)
       type(c_ptr), value :: argument, result
       integer(c_size_t), value :: bytes, space
       integer(c_int64_t), value :: timeout_ms
       integer(c_size_t), intent(out) :: result_bytes
       integer(c_int) :: status
     end function ham_call

     function ham_call_async(node, name, argument, bytes, timeout_ms, future) bind(c) result(status)
       import :: c_char, c_ptr, c_size_t, c_int, c_int32_t, c_int64_t
       integer(c_int32_t), value :: node
       character(kind=c_char), intent(in) :: name(*)
       type(c_ptr), value :: argument
       integer(c_size_t), value :: bytes
       integer(c_int64_t), value :: timeout_ms
       type(c_ptr), intent(out) :: future
       integer(c_int) :: status
     end function ham_call_async

     function ham_wait(future, timeout_ms) bind(c) result(status)
       import :: c_ptr, c_int, c_int64_t
       type(c_ptr), value :: future
       integer(c_int64_t), value :: timeout_ms
       integer(c_int) :: status
     end function ham_wait

     function ham_result(future, result, space, result_bytes) bind(c) result(status)
       import :: c_ptr, c_size_t, c_int
       type(c_ptr), intent(inout) :: future
       type(c_ptr), value :: result
       integer(c_size_t), value :: space
       integer(c_size_t), intent(out) :: result_bytes
       integer(c_int) :: status
     end function ham_result

     function ham_allocate(node, bytes, buffer) bind(c) result(status)
       import :: ham_buffer, c_size_t, c_int, c_int32_t
       integer(c_int32_t), value :: node
       integer(c_size_t), value :: bytes
       type(ham_buffer), intent(out) :: buffer
       integer(c_int) :: status
     end function ham_allocate

     function ham_free(buffer) bind(c) result(status)
       import :: ham_buffer, c_int
       type(ham_buffer), intent(in) :: buffer
       integer(c_int) :: status
     end function ham_free

     function ham_local(buffer, address) bind(c) result(status)
       import :: ham_buffer, c_ptr, c_int
       type(ham_buffer), intent(in) :: buffer
       type(c_ptr), intent(out) :: address
       integer(c_int) :: status
     end function ham_local

     function ham_put(from, to, offset, bytes) bind(c) result(status)
       import :: ham_buffer, c_ptr, c_size_t, c_int
       type(c_ptr), value :: from
       type(ham_buffer), intent(in) :: to
       integer(c_size_t), value :: offset, bytes
       integer(c_int) :: status
     end function ham_put

     function ham_get(from, offset, to, bytes) bind(c) result(status)
       import :: ham_buffer, c_ptr, c_size_t, c_int
       type(ham_buffer), intent(in) :: from
       integer(c_size_t), value :: offset, bytes
       type(c_ptr), value :: to
       integer(c_int) :: status
     end function ham_get

     function ham_error_message() bind(c) result(text)
       import :: c_ptr
       type(c_ptr) :: text
     end function ham_error_message

     function ham_strlen(text) bind(c, name="strlen") result(length)
       import :: c_ptr, c_size_t
       type(c_ptr), value :: text
       integer(c_size_t) :: length
     end function ham_strlen
  end interface

contains

  function ham_name(text) result(name)
    character(*), intent(in) :: text
    character(len=len(text) + 1, kind=c_char) :: name
    name = text // c_null_char
  end function ham_name

  function ham_message() result(text)
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    type(c_ptr) :: address
    integer :: i
    address = ham_error_message()
    call c_f_pointer(address, characters, [ham_strlen(address)])
    allocate (character(len=size(characters)) :: text)
    do i = 1, size(characters)
       text(i:i) = characters(i)
    end do
  end function ham_message

end module ham
