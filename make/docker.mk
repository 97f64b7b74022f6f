# The image without an engine. Other targets: make docker-check DOCKER_CHECK='--target onto --packages python3,python3-pip'
.PHONY: docker-check
docker-check: ## docker/Dockerfile carried out in a clean root (as root, with debootstrap), and a session run in it
	@command -v debootstrap >/dev/null || $(APT) debootstrap
	$(PYTHON) -m tools.docker_check $(DOCKER_CHECK)
