// Readers of public traces: what becomes of rows in their forms, and what bad rows are told. All rows are invented.
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "files/cluster_yaml.hpp"
#include "io/cluster_input.hpp"
#include "io/cluster_json.hpp"
#include "simulation/amounts.hpp"
#include "simulation/job_list.hpp"
#include "simulation/traces/lingjun.hpp"
#include "simulation/traces/traces.hpp"

namespace of_test_workload_traces {

using namespace kaisched;
using namespace kaisched::simulation;

namespace {

constexpr std::int64_t s = nanoseconds_per_second;

workload good(result<workload> made) {
  if (!made) FAIL(made.failure().message);
  return std::move(made).value();
}
std::string bad(const result<workload>& made) { return made ? "(no fault)" : made.failure().message; }

bool begins(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

const std::string openb_header =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,phase,creation_time,deletion_time,scheduled_time\n";

const pollux_profiles profiles{
    {"app_limits.csv", "app,init_batch_size,max_batch_size,min_local_bsz,max_local_bsz\nnet,10,100,1,20\n"},
    {"completion_epoch.csv", "app,batch_size,completion_epoch\nnet,10,1\nnet,60,0\nnet,40,0\nnet,20,0\n"},
    {"grad_stats.csv",
     "app,batch_size,epoch,grad_sqr,grad_var\nnet,10,0,1,1\nnet,10,1,1,3\nnet,60,0,1,5\nnet,40,0,0,4\nnet,20,0,0,4\n"},
    {"progress.csv", "app,epoch,progress_at_end_of_epoch_index\nnet,1,100\nnet,2,150\n"},
    {"step_times.csv",
     "app,placement_gpus_per_node,local_bsz,step_time_s,sync_time_s\nnet,1,10,0.5,0\nnet,24,10,2,1\nnet,1,20,0.5,0."
     "25\n"},
};

}  // namespace

TEST_CASE("openb: a pod runs from when it is scheduled to when it is deleted") {
  const workload made = good(read_openb_pods(
      {"pods.csv", openb_header + "p,12000,16,1,460,T4|P100,LS,Running,5,30,10\nq,1000,8,2,1000,,BE,Succeeded,2,4,2\n"
                                  "r,1000,8,0,0,,BE,Pending,2,4,\n"}));
  CHECK(made.left_out == 1);
  REQUIRE(made.jobs.size() == 2);
  CHECK(made.jobs[0].name == "q");
  const job& p = made.jobs[1];
  CHECK(p.submit == 5 * s);
  CHECK(p.run_time == 20 * s);
  CHECK(p.gpu_models == std::vector<std::string>{"T4", "P100"});
  CHECK(p.pods == std::vector<pod_shape>{{1, 12000, 16 << 20, 460, 0}});
  CHECK(gpus_of(made.jobs[0]) == 2000);
}

TEST_CASE("openb: faults") {
  const auto fault = [](std::string_view row) {
    return bad(read_openb_pods({"p.csv", openb_header + std::string(row)}));
  };
  CHECK(fault("p,1,1,1,500,,,,5,8,10\n") ==
        "p.csv:2: deletion_time: expected a time from scheduled_time (10) on, found \"8\"");
  CHECK(fault("p,1,1,2,500,,,,5,8,6\n") ==
        "p.csv:2: gpu_milli: expected 1000, as for every pod of several GPUs, found \"500\"");
  CHECK(begins(fault("p,1,1,1,500,,,,-5,8,6\n"), "p.csv:2: creation_time: expected an integer from 0 to"));
  CHECK(fault("p,1,1,0,0,,,,0,8,6\np,1,1,0,0,,,,0,8,6\n") == "p.csv:3: job: \"p\" stands in line 2 already");
  CHECK(begins(bad(read_openb_pods({"p.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"})),
               "p.csv:1: the header has no column \"creation_time\""));
}

TEST_CASE("philly: virtual clusters are queues, large jobs have several pods") {
  const std::string text = "submit_s_since_2017-09-04,duration_s,num_gpu,vc\n20,7,12,blue\n10,8,1,red\n";
  const workload made = good(read_philly({"philly.csv", text}));
  REQUIRE(made.jobs.size() == 2);
  CHECK(made.jobs[0].name == "philly-2");
  CHECK(made.jobs[0].queue == "red");
  CHECK(made.jobs[1].run_time == 7 * s);
  CHECK(made.jobs[1].pods == std::vector<pod_shape>{{1, 0, 0, 8000, 0}, {1, 0, 0, 4000, 0}});
  trace_options four;
  four.gpus_per_node = 4;
  CHECK(good(read_philly({"philly.csv", text}, four)).jobs[1].pods == std::vector<pod_shape>{{3, 0, 0, 4000, 0}});
  CHECK(bad(read_philly({"p.csv", "submit_s_since_2017-09-04,duration_s,num_gpu,vc\n1,1,0,a\n"})) ==
        "p.csv:2: num_gpu: expected an integer from 1 to 1048576, found \"0\"");
  CHECK(begins(bad(read_philly({"p.csv", "submit_s_since_2017-09-04,duration_s,num_gpu,vc\n1,99999999999,1,a\n"})),
               "p.csv:2: duration_s: expected seconds from 0 to 73 years, found \"99999999999\""));
}

TEST_CASE("itp: one cluster or all of them") {
  const std::string text = "cluster,submit_s,duration_s,num_gpu\n1,50,5,1\n2,40,6,8\n1,30,7,2\n";
  const workload all = good(read_itp({"itp.csv", text}));
  REQUIRE(all.jobs.size() == 3);
  CHECK(all.jobs[0].name == "itp-1-3");
  CHECK(all.jobs[1].queue == "cluster-2");
  trace_options one;
  one.part = "1";
  const workload first = good(read_itp({"itp.csv", text}, one));
  REQUIRE(first.jobs.size() == 2);
  CHECK(first.jobs[0].name == "itp-1-3");
  CHECK(first.jobs[0].queue.empty());
  one.part = "11";
  CHECK(bad(read_itp({"itp.csv", text}, one)) == "itp.csv: no job is of cluster \"11\"");
  // A fault is one, whichever cluster it is in.
  one.part = "1";
  CHECK(begins(bad(read_itp({"i.csv", "cluster,submit_s,duration_s,num_gpu\n2,x,1,1\n"}, one)), "i.csv:2: submit_s:"));
}

TEST_CASE("muri: iterations take 1.5 % longer than the file says") {
  const workload made = good(read_muri(
      {"muri.csv", "job_id,num_gpu,submit_ms,iterations,model,iter_ms,duration_ms\n7,16,1500,1000,bert,200,1\n"}));
  REQUIRE(made.jobs.size() == 1);
  CHECK(made.jobs[0].name == "muri-7");
  CHECK(made.jobs[0].model == "bert");
  CHECK(made.jobs[0].submit == s + s / 2);
  CHECK(made.jobs[0].iterations == 1000);
  CHECK(made.jobs[0].iteration_time == 203'000'000);
  CHECK(made.jobs[0].run_time == 203 * s);
  CHECK(made.jobs[0].pods == std::vector<pod_shape>{{2, 0, 0, 8000, 0}});
  CHECK(
      bad(read_muri({"m.csv", "job_id,num_gpu,submit_ms,iterations,model,iter_ms\n1,1,0,4000000000000,m,4000000\n"})) ==
      "m.csv:2: iterations: 4000000000000 of 4000000 ms take more than 73 years");
}

TEST_CASE("shockwave: deadlines and speeds") {
  const std::string header = "job,job_type,total_steps,scale_factor,mode,priority,slo,duration_s,arrival_s\n";
  const std::string text = header + "0,LM,300,2,gns,1,-1.000000,600,5\n1,LM,300,1,gns,1,1.5,600,9\n";
  const workload plain = good(read_shockwave({"t.csv", text}, {}));
  REQUIRE(plain.jobs.size() == 2);
  CHECK(plain.jobs[0].model == "LM");
  CHECK(plain.jobs[0].deadline == unknown_time);
  CHECK(plain.jobs[0].iterations == 0);
  CHECK(gpus_of(plain.jobs[0]) == 2000);
  CHECK(plain.jobs[1].deadline == (9 + 900) * s);
  const std::string speeds = "gpu,job_type,scale_factor,steps_per_s\nv100,LM,1,0.5\nv100,LM,2,4\nk80,LM,2,1\n";
  const workload timed = good(read_shockwave({"t.csv", text}, {"speeds.csv", speeds}));
  CHECK(timed.jobs[0].iterations == 300);
  CHECK(timed.jobs[0].iteration_time == s / 4);
  CHECK(timed.jobs[1].iteration_time == 2 * s);
  trace_options old;
  old.gpu = "k80";
  CHECK(bad(read_shockwave({"t.csv", text}, {"speeds.csv", speeds}, old)) ==
        "t.csv:3: job_type: speeds.csv has no speed for \"LM\" with 1 workers on \"k80\"");
  old.gpu = "t4";
  CHECK(bad(read_shockwave({"t.csv", text}, {"speeds.csv", speeds}, old)) == "speeds.csv: no row is of gpu \"t4\"");
  // The published form: JSON by GPU, kind of job and partner.
  const auto by_json = [&](std::string_view table) { return read_shockwave({"t.csv", text}, {"s.json", table}); };
  const auto of_v100 = [&](std::string_view kinds) {
    return bad(by_json(fmt::format(R"-({{"v100": {{{}}}}})-", kinds)));
  };
  const workload published = good(by_json(
      R"-( {"v100": {"('LM', 1)": {"null": 0.5, "('LM', 1)": [0.1, 0.2]}, "('LM', 2)": {"null": 4}, "('GAN', 1)": {}}, "k80": 1})-"));
  CHECK(published.jobs == timed.jobs);
  CHECK(bad(by_json("{")) == "s.json: this is no JSON object");
  CHECK(bad(by_json("{}")) == "s.json: no row is of gpu \"v100\"");
  CHECK(bad(by_json("{\"v100\": 1}")) == "s.json: v100: expected an object of kinds of jobs");
  for (const std::string_view key : {"LM", "('LM', 0)", "('LM', x)", "('LM', 1", "('", "', 1)", "('LM', 1.5)"}) {
    CHECK(begins(of_v100(fmt::format(R"-("{}": {{"null": 1}})-", key)),
                 fmt::format("s.json: v100: \"{}\": expected a key such as", key)));
  }
  CHECK(of_v100(R"-("('LM', 1)": {"null": "fast"})-") ==
        "s.json: v100: \"('LM', 1)\": null: expected steps per second");
  CHECK(of_v100(R"-("('LM', 1)": {"null": -1})-") ==
        "s.json: v100: \"('LM', 1)\": null: expected 0 to 10^9 steps per second");
  CHECK(begins(of_v100(R"-("('LM', 1)": {"null": 0}, "('LM', 2)": {"null": 1})-"),
               "t.csv:3: job_type: s.json has no speed for"));
  CHECK(begins(bad(read_shockwave({"t.csv", text}, {"s.csv", "gpu,job_type,scale_factor,steps_per_s\nv100,LM,1,-1\n"})),
               "s.csv:2: steps_per_s: expected a number from 0 to"));
}

TEST_CASE("swf: 18 numbers in a line") {
  const std::string text =
      "; Version: 2.2\n"
      "; a comment\n"
      " 1 0 5 100 4 -1 -1 6 200 1024 1 3 1 2 7 -1 -1 -1\r\n"
      "2 10 -1 50.5 20 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 3 -1 ; behind\n"
      "\n"
      "3 20 -1 -1 4 -1 -1 4 60 -1 5 3 1 2 7 -1 -1 -1\n"
      "5 20 -1 9 3 -1 -1 0 60 -1 5 3 1 2 7 -1 1 60\n"
      "4 20 -1 9 -1 -1 -1 0 60 -1 5 3 1 2 7 -1 -1 -1";
  const workload made = good(read_swf({"log.swf", text}));
  CHECK(made.left_out == 2);
  REQUIRE(made.jobs.size() == 3);
  CHECK(gpus_of(made.jobs[2]) == 3000);
  CHECK(made.jobs[2].after == std::vector<std::string>{"any:swf-1"});
  CHECK(made.jobs[1].after.empty());  // job 3 is left out
  const job& first = made.jobs[0];
  CHECK(first.name == "swf-1");
  CHECK(first.user == "user-3");
  CHECK(first.queue == "queue-7");
  CHECK(first.model == "executable-2");
  CHECK(first.run_time == 100 * s);
  CHECK(first.estimate == 200 * s);
  CHECK(first.pods == std::vector<pod_shape>{{1, 0, 6 << 20, 6000, 0}});
  CHECK(made.jobs[1].run_time == 50 * s + s / 2);
  CHECK(made.jobs[1].estimate == unknown_time);
  CHECK(made.jobs[1].user.empty());
  CHECK(made.jobs[1].pods == std::vector<pod_shape>{{2, 0, 0, 8000, 0}, {1, 0, 0, 4000, 0}});
  trace_options cores;
  cores.processors = processor::core;
  cores.cores_per_node = 16;
  CHECK(good(read_swf({"log.swf", text}, cores)).jobs[1].pods ==
        std::vector<pod_shape>{{1, 16000, 0, 0, 0}, {1, 4000, 0, 0, 0}});
}

TEST_CASE("swf: faults") {
  const auto fault = [](std::string_view line) { return bad(read_swf({"log.swf", line})); };
  CHECK(fault("1 2 3\n") == "log.swf:1: expected 18 fields, found 3");
  CHECK(fault("; x\n1 x 5 100 4 -1 -1 6 200 -1 1 3 1 2 7 -1 -1 -1\n") ==
        "log.swf:2: submit time: expected seconds from 0 to 73 years, or -1, found \"x\"");
  CHECK(fault("1 -1 5 100 4 -1 -1 6 200 -1 1 3 1 2 7 -1 -1 -1\n") ==
        "log.swf:1: submit time: expected seconds from 0 to 73 years, found \"-1\"");
  CHECK(fault("1 0 5 100 4 -1 -1 x 200 -1 1 3 1 2 7 -1 -1 -1\n") ==
        "log.swf:1: requested processors: expected an integer from -1 to 1048576, found \"x\"");
  CHECK(fault("1 0 5 1 4 -1 -1 1 2 -1 1 3 1 2 7 -1 -1 -1\n1 0 5 1 4 -1 -1 1 2 -1 1 3 1 2 7 -1 -1 -1\n") ==
        "log.swf:2: job: \"swf-1\" stands in line 1 already");
}

TEST_CASE("pollux: run times follow from what was measured") {
  const std::string header = "workload,name,time_s,application,num_replicas,batch_size\n";
  const std::string text = header + "w1,net-0,60,net,1,10\nw2,net-0,30,net,6,60\n";
  const workload made = good(read_pollux({"w.csv", text}, profiles));
  REQUIRE(made.jobs.size() == 2);
  const job& large = made.jobs[0];
  CHECK(large.name == "w2-net-0");
  CHECK(large.queue == "w2");
  CHECK(large.model == "net");
  CHECK(large.pods == std::vector<pod_shape>{{6, 0, 0, 1000, 0}});
  // Ten samples on each of six GPUs: one epoch of 100 with a gain of (5 + 1) / (5 / 6 + 1) each 2 seconds.
  CHECK(large.run_time == doctest::Approx(100 / (6 / (5.0 / 6 + 1) / 2) * 1e9).epsilon(1e-10));
  // One sample batch: no gain. 100 steps of half a second, then 50.
  CHECK(made.jobs[1].run_time == 75 * s);
  trace_options part;
  part.part = "w1";
  const workload one = good(read_pollux({"w.csv", text}, profiles, part));
  REQUIRE(one.jobs.size() == 1);
  CHECK(one.jobs[0].name == "net-0");
  CHECK(one.jobs[0].queue.empty());
  part.part = "w3";
  CHECK(bad(read_pollux({"w.csv", text}, profiles, part)) == "w.csv: no job is of workload \"w3\"");
  CHECK(bad(read_pollux({"w.csv", header + "w,a,1,bert,1,10\n"}, profiles)) ==
        "w.csv:2: application: no limits of application \"bert\"");
  CHECK(bad(read_pollux({"w.csv", header + "w,a,1,net,3,30\n"}, profiles)) ==
        "w.csv:2: application: no step times of \"net\" on \"3\" with 10 samples each");
}

TEST_CASE("pollux: one GPU alone computes a large batch in two parts at least") {
  const std::string text = "workload,name,time_s,application,num_replicas,batch_size\nw,a,0,net,1,40\n";
  // Two parts of 20: half a second with and a quarter without synchronisation; all noise, so the gain is the scale.
  CHECK(good(read_pollux({"w.csv", text}, profiles)).jobs[0].run_time ==
        doctest::Approx(100 / (4 / 0.75) * 1e9).epsilon(1e-10));
  // 20 samples would fit, but without a second part nobody knows the noise: two parts of 10.
  const std::string small = "workload,name,time_s,application,num_replicas,batch_size\nw,a,0,net,1,20\n";
  CHECK(good(read_pollux({"w.csv", small}, profiles)).jobs[0].run_time == 50 * s);
}

TEST_CASE("the forms in which the traces are published") {
  const std::string philly = "timestamp,duration,num_gpus,gpu_time,cluster\n";
  const workload of_philly = good(read_philly({"p.csv", philly + "2017-09-05 01:00:10,66.5,2,133.0,red\n"}));
  CHECK(of_philly.jobs[0].submit == (86400 + 3610) * s);
  CHECK(of_philly.jobs[0].run_time == 66 * s + s / 2);
  CHECK(of_philly.jobs[0].queue == "red");
  for (const std::string_view bad_time :
       {"2017-09-03 23:59:59", "2017-02-30 01:00:00", "2017-13-01 01:00:00", "2017-10-01 24:00:00",
        "2017-10-01 00:60:00", "2017-10-01T00:00:00", "soon"}) {
    CHECK(begins(bad(read_philly({"p.csv", philly + std::string(bad_time) + ",66.0,1,66.0,red\n"})),
                 "p.csv:2: timestamp: expected a time from 2017-09-04 00:00:00 on, found"));
  }
  CHECK(good(read_philly({"p.csv", philly + "2020-03-01 00:00:00,1,1,1,a\n"})).jobs[0].submit == 909 * 86400 * s);
  CHECK(begins(bad(read_philly({"p.csv", "a,b\n1,2\n"})), "p.csv:1: the header has no column \"timestamp\""));

  const std::string itp = "job_id,submission_time,duration,num_gpu\nabc,10,60,4\n";
  const workload of_itp = good(read_itp({"cluster01.csv", itp}));
  CHECK(of_itp.jobs[0].name == "abc");
  CHECK(of_itp.jobs[0].queue.empty());
  trace_options part;
  part.part = "1";
  CHECK(bad(read_itp({"c.csv", itp}, part)) == "c.csv:2: job_id: a file of one cluster has no parts");

  const workload of_muri =
      good(read_muri({"m.csv",
                      "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time\n"
                      "1,1,2000,10,vgg19,16,1,1,100\n"}));
  CHECK(of_muri.jobs[0].model == "vgg19");
  CHECK(of_muri.jobs[0].submit == 2 * s);
  CHECK(of_muri.jobs[0].run_time == 1'015'000'000);

  const workload of_pollux =
      good(read_pollux({"w.csv", "name,time,application,num_replicas,batch_size\nnet-0,60,net,1,10\n"}, profiles));
  CHECK(of_pollux.jobs[0].name == "net-0");
  CHECK(of_pollux.jobs[0].queue.empty());
  CHECK(of_pollux.jobs[0].run_time == 75 * s);

  const std::string shockwave =
      "LM (batch size 10)\tpython3 main.py\tlm\t--steps\t1\t300\t2\tgns\t1\t2.000000\t600\t5\r\n\n"
      "LM (batch size 10)\tpython3 main.py\tlm\t--steps\t1\t300\t1\tgns\t1\t-1.000000\t60.5\t7\n";
  const workload of_shockwave = good(read_shockwave({"s.trace", shockwave}, {}));
  REQUIRE(of_shockwave.jobs.size() == 2);
  CHECK(of_shockwave.jobs[0].name == "shockwave-0");
  CHECK(of_shockwave.jobs[0].model == "LM (batch size 10)");
  CHECK(of_shockwave.jobs[0].deadline == (5 + 1200) * s);
  CHECK(gpus_of(of_shockwave.jobs[0]) == 2000);
  CHECK(of_shockwave.jobs[1].run_time == 60 * s + s / 2);
  CHECK(bad(read_shockwave({"s.trace", "a\tb\n"}, {})) == "s.trace:1: expected 12 fields between tabs, found 2");
  CHECK(bad(read_shockwave({"s.trace", "LM\t\t\t\t1\tx\t2\tgns\t1\t-1\t600\t5\n"}, {})) ==
        "s.trace:1: total_steps: expected an integer from 0 to 2305843009213693951, found \"x\"");
  CHECK(begins(bad(read_shockwave({"s.trace", "LM\t\t\t\t1\t1\t2\tgns\t1\t-1\t600\t5\nL\xFF\n"}, {})),
               "s.trace:2: the line"));

  CHECK(read_lingjun_hosts({"topo.csv", "ip,DSW,PSW,ASW\n0c9d,G6,P10,S14\n"}).ok());
}

TEST_CASE("forms are found by name, those that need profiles say so") {
  CHECK(trace_forms().front().name == "csv");
  CHECK(find_trace_form("nobody") == nullptr);
  for (const trace_form& form : trace_forms()) {
    CAPTURE(form.name);
    CHECK(find_trace_form(form.name) == &form);
    const result<workload> made = form.read({"file", ""}, {}, {});
    REQUIRE((form.name == "swf") == made.ok());
    trace_options none;
    none.gpus_per_node = 0;
    if (form.name != "pollux") CHECK(!form.read({"file", ""}, {}, none).ok());
  }
  CHECK(bad(find_trace_form("pollux")->read({"w.csv", ""}, {}, {})) ==
        "w.csv: its run times follow from profiles, and there are none");
}

TEST_CASE("lingjun: hosts with three levels of switches") {
  const std::string text = "host,DSW,PSW,ASW\nh1,G1,P1,S1\nh2,G1,P2,S1\nh3,G1,P1,S1\n";
  const result<io::cluster_input> input = read_lingjun_hosts({"hosts.csv", text});
  REQUIRE(input.ok());
  result<cluster> built = io::build_cluster(*input);
  REQUIRE(built.ok());
  const snapshot made = built->take_snapshot();
  CHECK(made.count(entity_kind::node) == 3);
  const std::string json = *io::format_cluster_json(made, 0);
  CHECK(json.find("{\"name\": \"clos\", \"levels\": [\"dsw\", \"psw\", \"asw\"], \"primary\": true}") !=
        std::string::npos);
  CHECK(json.find("\"gpu\": 8000") != std::string::npos);
  CHECK(json.find("\"labels\": {\"asw\": \"S1\", \"dsw\": \"G1\", \"psw\": \"P2\"}") != std::string::npos);
  const auto fault = [](std::string_view rows) {
    const result<io::cluster_input> read = read_lingjun_hosts({"h.csv", rows});
    return read ? std::string("(no fault)") : read.failure().message;
  };
  CHECK(fault("host,DSW,PSW,ASW\nh1,G1,,S1\n") == "h.csv:2: PSW: expected a name, found \"\"");
  CHECK(begins(fault("host,DSW,PSW\n"), "h.csv:1: the header has no column \"ASW\""));
  lingjun_options wide;
  wide.gpus = 65;
  CHECK(read_lingjun_hosts({"h.csv", text}, wide).failure().message == "gpus: expected 0 to 64, found 65");
  const result<io::cluster_input> twice = read_lingjun_hosts({"h.csv", "host,DSW,PSW,ASW\nh1,G1,P1,S1\nh1,G1,P1,S1\n"});
  REQUIRE(twice.ok());
  CHECK(begins(io::build_cluster(*twice).failure().message, "h.csv:3: "));
}

}  // namespace of_test_workload_traces
