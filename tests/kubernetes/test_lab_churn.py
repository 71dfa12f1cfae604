"""A short churn of two tenants in the lab: churn.py plays longer ones, churn_audit.py has the rules."""

import tempfile
import unittest
from pathlib import Path

import churn
import churn_audit
from lab_case import LabCase, main

WITHIN = 60  # seconds from an eviction to the start that it is for, on a machine that other tests keep busy


class Churn(unittest.TestCase):
    def test_two_tenants_at_their_limits(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        churn.play(LabCase.lab_program, folder, seed=1, minutes=0.75, patience=300)
        verdict = churn_audit.read(folder, WITHIN)
        print(verdict.table())
        self.assertEqual(verdict.violations, [])
        self.assertGreater(len(verdict.delays), 5, "hardly anything was evicted")


if __name__ == "__main__":
    main()
