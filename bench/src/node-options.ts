/** How the Dockerfile runs Node. */
export const AS_IN_THE_IMAGE = '--max-semi-space-size=64'
