from assay.benchmarks.weights.suite import BenchmarkSuite
class ScalabilitySuite(BenchmarkSuite):
    def __init__(self): super().__init__("scalability")
    def get_scenarios(self): return []
    def run_scenario(self, name, config): return {}
