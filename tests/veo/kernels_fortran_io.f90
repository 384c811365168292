! A kernel that needs Fortran's run time: how many characters it has written.
integer function write_number(number, text)
  integer :: number
  character(len=1) :: text(4)
  character(len=4) :: line
  integer :: i
  write (line, '(i4)') number
  do i = 1, 4
    text(i) = line(i:i)
  end do
  write_number = len_trim(line)
end function
