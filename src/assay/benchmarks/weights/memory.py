from assay.benchmarks.weights.suite import BenchmarkSuite
class MemorySuite(BenchmarkSuite):
    def __init__(self): super().__init__("memory")
    def get_scenarios(self): return []
    def run_scenario(self, name, config): return {}
