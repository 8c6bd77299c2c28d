// The lab's dependency graphs on oneTBB's flow graph, written from its documentation.
//
//   peer CASE WORKERS SIZE
//
// One run for each line on standard input; each prints `EXECUTED NANOSECONDS`. With `digest-` in
// front of the case it prints the graph's digest instead. Graphs are as in the lab's `shapes.rs`.

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace flow = tbb::flow;
using std::uint32_t;
using std::uint64_t;
using Clock = std::chrono::steady_clock;
using Node = flow::continue_node<flow::continue_msg>;

struct Shape {
    uint32_t tasks;
    std::vector<std::pair<uint32_t, uint32_t>> edges;
};

static Shape fan(uint32_t rounds) {
    Shape shape{rounds * 102, {}};
    for (uint32_t first = 0; first < shape.tasks; first += 102) {
        const uint32_t last = first + 101;
        if (first > 0) shape.edges.emplace_back(first - 1, first);
        for (uint32_t middle = first + 1; middle < last; ++middle) {
            shape.edges.emplace_back(first, middle);
        }
        for (uint32_t middle = first + 1; middle < last; ++middle) {
            shape.edges.emplace_back(middle, last);
        }
    }
    return shape;
}

static Shape chain(uint32_t tasks) {
    Shape shape{tasks, {}};
    for (uint32_t task = 1; task < tasks; ++task) shape.edges.emplace_back(task - 1, task);
    return shape;
}

static Shape random(uint32_t tasks) {
    uint64_t state = 0x9E3779B97F4A7C15;
    const auto next = [&state] {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    };
    const uint64_t others = tasks - 1;
    Shape shape{tasks, {}};
    for (uint32_t edge = 0; edge < 4 * tasks; ++edge) {
        const uint64_t child = next() % others;
        const uint64_t parent = child + 1 + next() % (others - child);
        shape.edges.emplace_back(static_cast<uint32_t>(child), static_cast<uint32_t>(parent));
    }
    return shape;
}

static Shape frame() {
    const uint32_t groups = 4, layers = 3, width = 24;
    const auto task = [=](uint32_t group, uint32_t layer, uint32_t place) {
        return 1 + (group * layers + layer) * width + place % width;
    };
    const auto end_of = [=](uint32_t group) { return task(groups, 0, 0) + group; };
    Shape shape{300, {}};
    for (uint32_t group = 0; group < groups; ++group) {
        for (uint32_t place = 0; place < width; ++place) {
            shape.edges.emplace_back(0, task(group, 0, place));
        }
        for (uint32_t layer = 1; layer < layers; ++layer)
            for (uint32_t place = 0; place < width; ++place) {
                shape.edges.emplace_back(task(group, layer - 1, place), task(group, layer, place));
                shape.edges.emplace_back(
                    task(group, layer - 1, place + 1), task(group, layer, place));
            }
        for (uint32_t place = 0; place < width; ++place)
            shape.edges.emplace_back(task(group, layers - 1, place), end_of(group));
    }
    const uint32_t first_after = end_of(groups);
    for (uint32_t group = 0; group < groups; ++group) {
        shape.edges.emplace_back(end_of(group), first_after);
    }
    for (uint32_t last = first_after + 1; last < shape.tasks; ++last) {
            shape.edges.emplace_back(last - 1, last);
        }
    return shape;
}

static uint64_t digest(const Shape &shape) {
    uint64_t state = shape.tasks;
    for (const auto &edge : shape.edges) {
        state = (state ^ edge.first) * 0x100000001B3;
        state = (state ^ edge.second) * 0x100000001B3;
    }
    return state;
}

// Nodes with their edges, and the nodes without predecessors, which fire at each message.
class Graph {
public:
    explicit Graph(const Shape &shape) {
        for (uint32_t task = 0; task < shape.tasks; ++task)
            nodes_.emplace_back(graph_, [this](const flow::continue_msg &) {
                executed_.fetch_add(1, std::memory_order_relaxed);
            });
        std::vector<bool> waits(shape.tasks, false);
        for (const auto &edge : shape.edges) {
            flow::make_edge(nodes_[edge.first], nodes_[edge.second]);
            waits[edge.second] = true;
        }
        for (uint32_t task = 0; task < shape.tasks; ++task)
            if (!waits[task]) roots_.push_back(&nodes_[task]);
    }

    void run() {
        for (Node *root : roots_) root->try_put(flow::continue_msg());
        graph_.wait_for_all();
    }

    uint64_t take_executed() { return executed_.exchange(0); }

private:
    alignas(64) std::atomic<uint64_t> executed_{0};
    alignas(64) flow::graph graph_;
    std::deque<Node> nodes_;
    std::vector<Node *> roots_;
};

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    std::string name = argv[1];
    const int workers = std::stoi(argv[2]);
    const uint32_t size = static_cast<uint32_t>(std::stoul(argv[3]));
    const bool identify = name.compare(0, 7, "digest-") == 0;
    if (identify) name.erase(0, 7);

    Shape shape;
    if (name == "fan") shape = fan(size);
    else if (name == "chain") shape = chain(size);
    else if (name == "random") shape = random(size);
    else if (name == "frame") shape = frame();
    else {
        std::cerr << "no case " << name << std::endl;
        return 2;
    }

    // The main thread is one of the workers while it waits.
    const auto most = tbb::global_control::max_allowed_parallelism;
    tbb::global_control control(most, static_cast<std::size_t>(workers));
    tbb::task_arena arena(workers);
    arena.execute([&] {
        // A random graph is built anew in each run, because building it counts; others are kept.
        const bool fresh = name == "random";
        const uint32_t runs = name == "frame" ? size : 1;
        std::unique_ptr<Graph> kept;
        if (!fresh && !identify) kept.reset(new Graph(shape));
        std::string line;
        while (std::getline(std::cin, line)) {
            if (identify) {
                std::cout << digest(shape) << " 0" << std::endl;
                continue;
            }
            const auto began = Clock::now();
            if (fresh) kept.reset(new Graph(shape));
            for (uint32_t i = 0; i < runs; ++i) kept->run();
            const auto elapsed = Clock::now() - began;
            const uint64_t executed = kept->take_executed();
            if (fresh) kept.reset();
            std::cout << executed << ' '
                      << std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count()
                      << std::endl;
        }
    });
}
