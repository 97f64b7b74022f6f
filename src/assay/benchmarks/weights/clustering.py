from assay.benchmarks.weights.suite import BenchmarkSuite


class ClusteringSuite(BenchmarkSuite):
    def __init__(self):
        super().__init__("clustering")

    def get_scenarios(self):
        return []

    def run_scenario(self, name, config):
        return {}
