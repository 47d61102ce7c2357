/** How the Dockerfile runs Node; the peers of the benchmark run with it, too. */
export const AS_IN_THE_IMAGE = '--max-semi-space-size=64'
