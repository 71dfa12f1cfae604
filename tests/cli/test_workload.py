"""The command `workload`: traces as CSV, invented workloads, what is in one. Its inputs are invented."""

import json

from support import Case, main

JOBS = "job,submit,run_time,queue,gpus_total\na,0,2h,x,2\nb,1h,1h,x,12\nc,27h,90m,y,0.5\n"
PHILLY = "submit_s_since_2017-09-04,duration_s,num_gpu,vc\n7200,60,12,blue\n3600,30,1,red\n"
SWF = "; UnixStartTime: 0\n1 100 0 60 4 -1 -1 4 120 -1 1 1 1 1 1 -1 -1 -1\n2 110 0 -1 4 -1 -1 4 -1 -1 5 1 1 1 1 -1 -1 -1\n"
OPENB = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,scheduled_time\np,1000,16,1,500,T4,0,9,5\n"


class Convert(Case):
    def test_a_trace(self):
        trace, out = self.file("t.csv", PHILLY), self.folder / "out.csv"
        said = self.ok("workload", "convert", "--from", "philly", trace, out)
        self.assertEqual(said, f"{out}: 2 jobs of 3 pods, 0.2 GPU hours, arriving within 1 h\n")
        self.assertEqual(
            out.read_text(), "job,submit,run_time,queue,pods,gpus\nphilly-2,3600,30,red,1,1\nphilly-1,7200,60,blue,1|1,8|4\n"
        )

    def test_streams_and_options(self):
        said = self.ok("workload", "convert", "--from", "philly", "-", "-", "--shift", "--first", "1", stdin=PHILLY)
        self.assertEqual(said, "job,submit,run_time,queue,pods,gpus\nphilly-2,0,30,red,1,1\n")
        said = self.ok("workload", "convert", "--from=philly", "-", "-", "--gpus-per-node", "4", stdin=PHILLY)
        self.assertIn("philly-1,7200,60,blue,3,4\n", said)
        said = self.ok("workload", "convert", "--from", "swf", "-", "-", "--processors", "core", "--cores-per-node", "2", stdin=SWF)
        self.assertEqual(
            said,
            "job,submit,run_time,queue,user,model,pods,gpus,cpu,estimate\nswf-1,100,60,queue-1,user-1,executable-1,2,0,2,120\n",
        )
        said = self.ok("workload", "convert", "--from", "openb", "-", "-", stdin=OPENB)
        self.assertEqual(said, "job,submit,run_time,pods,gpus,cpu,memory,gpu_models\np,0,4,1,0.5,1,16Mi,T4\n")

    def test_rows_that_are_left_out_are_told(self):
        out = self.folder / "out.csv"
        said = self.ok("workload", "convert", "--from", "swf", self.file("log.swf", SWF), out)
        self.assertIn("1 row of the trace is left out: it never ran", said)

    def test_profiles(self):
        jobs = self.file(
            "t.csv", "job,job_type,total_steps,scale_factor,mode,priority,slo,duration_s,arrival_s\n0,LM,8,1,gns,1,-1,2,0\n"
        )
        speeds = self.file("speeds.csv", "gpu,job_type,scale_factor,steps_per_s\nv100,LM,1,4\nk80,LM,1,2\n")
        said = self.ok("workload", "convert", "--from", "shockwave", "--profile", speeds, jobs, "-")
        self.assertIn("shockwave-0,0,2,LM,1,1,8,0.25\n", said)
        said = self.ok("workload", "convert", "--from", "shockwave", "--profile", speeds, "--gpu", "k80", jobs, "-")
        self.assertIn("shockwave-0,0,2,LM,1,1,8,0.5\n", said)
        itp = "cluster,submit_s,duration_s,num_gpu\n1,50,5,1\n2,40,6,8\n"
        self.assertIn("itp-2-2,40,", self.ok("workload", "convert", "--from", "itp", "--part", "2", "-", "-", stdin=itp))
        self.assertIn(
            "--profile is missing: the folder with app_limits.csv",
            self.fails(2, "workload", "convert", "--from", "pollux", jobs, "-"),
        )
        self.assertIn("app_limits.csv", self.fails(2, "workload", "convert", "--from", "pollux", "--profile", self.folder, jobs, "-"))
        self.assertIn("--profile says nothing to --from itp", self.fails(2, "workload", "convert", "--from", "itp", "--profile", speeds, jobs, "-"))

    def test_faults(self):
        bad = self.file("bad.csv", "job,run_time\na,soon\n")
        message = self.fails(2, "workload", "describe", bad)
        self.assertEqual(
            message,
            f'kaisched: {bad}:2: run_time: expected seconds, or a time such as 1h30m, from 0 to 73 years, found "soon"\n',
        )
        self.assertIn("would overwrite", self.fails(2, "workload", "convert", bad, bad))
        self.assertEqual(bad.read_text(), "job,run_time\na,soon\n")
        self.assertIn("name IN and OUT", self.fails(2, "workload", "convert", bad))
        self.assertIn("nothing is expected where", self.fails(2, "workload", "describe", bad, bad))
        self.assertIn("--seed", self.fails(2, "workload", "generate", "-", "--seed", "x"))
        self.assertIn("--from says nothing to generate", self.fails(2, "workload", "generate", "--from", "itp", "-"))
        self.assertIn("--sizes says nothing to describe", self.fails(2, "workload", "describe", "--sizes", "1:1", bad))
        self.assertIn('"tell" is not known', self.fails(2, "workload", "tell", bad))
        self.assertIn("--sizes: expected", self.fails(2, "workload", "generate", "-", "--sizes", "1"))
        self.assertIn("--run-times: ", self.fails(2, "workload", "generate", "-", "--run-times", "long"))
        self.assertIn("absent.csv", self.fails(2, "workload", "describe", self.folder / "absent.csv"))


class Generate(Case):
    def test_equal_arguments_give_equal_bytes(self):
        words = ["workload", "generate", "-", "--jobs", "200", "--queues", "3", "--like", "itp", "--rhythm", "day", "--rate", "60"]
        first = self.ok(*words)
        self.assertEqual(self.ok(*words), first)
        self.assertNotEqual(self.ok(*words, "--seed", "2"), first)
        self.assertEqual(len(first.splitlines()), 201)
        self.assertTrue(first.startswith("job,submit,run_time,queue,pods,gpus\njob-1,"))

    def test_laws(self):
        said = self.ok("workload", "generate", "-", "--jobs", "20", "--sizes", "3:1", "--run-times", "log-normal:1m:0", "--rhythm", "none")
        rows = [line.split(",") for line in said.splitlines()[1:]]
        self.assertEqual({(row[2], row[3], row[4]) for row in rows}, {("60", "1", "3")})


class Describe(Case):
    def test_report(self):
        said = self.ok("workload", "describe", self.file("jobs.csv", JOBS))
        for part in ["3 jobs", "GPU hours    16.8", "at most 14", "Percentiles", "run time", "Sizes", "Queues", "Arrivals"]:
            self.assertIn(part, said)
        self.assertIn("jobs in 2 h; jobs per hour", said)
        for line in said.splitlines():
            self.assertLessEqual(len(line), 100, line)

    def test_json(self):
        path = self.file("jobs.csv", JOBS)
        report = json.loads(self.ok("workload", "describe", path, "--json"))
        self.assertEqual((report["schema"], report["task"], report["file"]), ("kaisched-workload/1", "describe", str(path)))
        contents = report["contents"]
        self.assertEqual((contents["jobs"], contents["pods"], contents["most_gpus"]), (3, 4, 14000))
        self.assertEqual(contents["gpu_hours"], 16.75)
        self.assertEqual([(one["gpus"], one["jobs"]) for one in contents["sizes"]], [(500, 1), (2000, 1), (12000, 1)])
        self.assertEqual([one["name"] for one in contents["queues"]], ["x", "y"])
        self.assertEqual((contents["period"], sum(contents["arrivals"])), (7200 * 10**9, 3))
        out = self.folder / "out.csv"
        report = json.loads(self.ok("workload", "convert", path, out, "--json"))
        self.assertEqual((report["from"], report["file"], report["contents"]), (str(path), str(out), contents))

    def test_nothing(self):
        said = self.ok("workload", "describe", "-", stdin="job,run_time\n")
        self.assertEqual(said, "standard input: 0 jobs\n")
        self.assertEqual(json.loads(self.ok("workload", "describe", "-", "--json", stdin="job,run_time\n"))["contents"]["jobs"], 0)


class Hosts(Case):
    def test_lingjun(self):
        hosts = self.file("hosts.csv", "host,DSW,PSW,ASW\nh1,G1,P1,S1\nh2,G1,P2,S1\n")
        out = self.folder / "c.json"
        said = self.ok("convert", "--from", "lingjun", "--gpus-per-node", "4", hosts, out)
        self.assertIn("2 nodes with 8 GPUs", said)
        tables = json.loads(out.read_text())
        self.assertEqual(tables["topology"][0]["levels"], ["dsw", "psw", "asw"])
        self.assertEqual(tables["node"][1]["labels"], {"dsw": "G1", "psw": "P2", "asw": "S1"})
        bad = self.file("bad.csv", "host,DSW,PSW,ASW\nh1,,P1,S1\n")
        self.assertIn(f'{bad}:2: DSW: expected a name, found ""', self.fails(2, "convert", "--from", "lingjun", bad, out))
        nodes = self.file("nodes.csv", "name\n")
        self.assertIn("--from says what one file is", self.fails(2, "convert", "--from", "lingjun", "--openb-nodes", nodes, "--openb-pods", nodes, out))


if __name__ == "__main__":
    main()
