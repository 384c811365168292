/* Kernels of heat.c: a square plate, in strips of rows, one for each child. The children exchange the rows at their
 * borders among themselves, over their own MPI_COMM_WORLD; what they compute stays with them between the calls. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

struct plate {
  int size;
  int first_row;
  int rows;
  double* now; /* rows + 2 rows of size values: the outer two belong to the neighbours */
  double* next;
};

static struct plate plate;

static double* row(double* of, int index) { return of + (size_t)index * (size_t)plate.size; }

/* Heat at one place. */
void start(int size, int at_row, int at_column, double heat) {
  int rank;
  int count;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  plate.size = size;
  plate.first_row = size * rank / count;
  plate.rows = size * (rank + 1) / count - plate.first_row;
  size_t cells = (size_t)(plate.rows + 2) * (size_t)size;
  plate.now = calloc(cells, sizeof(double));
  plate.next = calloc(cells, sizeof(double));
  int mine = at_row - plate.first_row;
  if (mine >= 0 && mine < plate.rows) row(plate.now, mine + 1)[at_column] = heat;
}

static void exchange_borders(void) {
  int rank;
  int count;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int below = rank + 1 < count ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(row(plate.now, 1), plate.size, MPI_DOUBLE, above, 0, row(plate.now, plate.rows + 1), plate.size,
               MPI_DOUBLE, below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(row(plate.now, plate.rows), plate.size, MPI_DOUBLE, below, 1, row(plate.now, 0), plate.size, MPI_DOUBLE,
               above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* So many steps; heat flows between neighbours, none flows over the rim. */
void diffuse(int steps, double rate) {
  for (int step = 0; step < steps; ++step) {
    exchange_borders();
    for (int i = 1; i <= plate.rows; ++i) {
      int at = plate.first_row + i - 1;
      const double* up = row(plate.now, at > 0 ? i - 1 : i);
      const double* down = row(plate.now, at + 1 < plate.size ? i + 1 : i);
      const double* here = row(plate.now, i);
      for (int j = 0; j < plate.size; ++j) {
        double left = here[j > 0 ? j - 1 : j];
        double right = here[j + 1 < plate.size ? j + 1 : j];
        row(plate.next, i)[j] = here[j] + rate * (up[j] + down[j] + left + right - 4 * here[j]);
      }
    }
    double* swap = plate.now;
    plate.now = plate.next;
    plate.next = swap;
  }
}

/* Sends each parent the strip of this child. */
void send_result(void) {
  MPI_Comm parents;
  int rank;
  MPI_Comm_get_parent(&parents);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Send(row(plate.now, 1), plate.rows * plate.size, MPI_DOUBLE, 0, 0, parents);
  free(plate.now);
  free(plate.next);
}
