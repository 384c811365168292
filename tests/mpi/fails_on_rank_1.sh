#!/bin/sh
# A target's program that does not start beside rank 1. $APP: the program.
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" = 1 ]; then exit 3; fi
exec "$APP" "$@"
