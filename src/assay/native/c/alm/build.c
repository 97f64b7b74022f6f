/* The builder that is right everywhere, and the memory that every level of it works in. */
#define BUILD build_scalar
#include "build.h"

Workspace *new_workspace(void) { return calloc(1, sizeof(Workspace)); }

void free_workspace(Workspace *workspace) {
    Parser *parser = &workspace->parser;
    free(parser->speakers.at), free(parser->sums.at), free(parser->whole_sums.at), free(parser->counts.at), free(parser->seen.at);
    free(parser->names.at);
    free(workspace->spoken.at), free(workspace->kept.at), free(workspace->rewritten.at), free(workspace);
}
