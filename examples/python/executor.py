#!/usr/bin/env python3
"""An executor: tasks, arrays, an exception, a worker that dies."""
# expect: squares: \[0, 1, 4, 9, 16\]
# expect: sum of 1000000 numbers: 499999500000
# expect: a worker says: division by zero
# expect: the task is lost, outcome may_have_run
# expect: the pool goes on: 1024
import os

import numpy

import ham


def dies():
    os._exit(1)


with ham.Executor(workers=2) as pool:
    print("squares:", list(pool.map(lambda x: x * x, range(5))))

    numbers = numpy.arange(1_000_000)
    print("sum of", len(numbers), "numbers:", pool.submit(numpy.sum, numbers).result())

    try:
        pool.submit(lambda: 1 / 0).result()
    except ZeroDivisionError as error:
        print("a worker says:", error)

    try:
        pool.submit(dies).result()
    except ham.NodeFailure as failure:
        print("the task is lost, outcome", failure.outcome)
    print("the pool goes on:", pool.submit(pow, 2, 10).result())
