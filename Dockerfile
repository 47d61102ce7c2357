# One image for every process: `receiver`, `worker`, `migrate up` and the rest are commands of `counterfoil`.
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npx --yes "$(node -p "require('./package.json').packageManager")" install --frozen-lockfile \
 && npx tsc -b apps/cli \
 && CI=true npx --yes "$(node -p "require('./package.json').packageManager")" prune --prod

FROM node:20-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build --chown=0:0 /app /app
# A volume mounted here takes over this owner.
RUN install -d -o 1000 -g 1000 /spool
# The uid of `node` in this image; a number, so that a cluster can check that it isn't root.
USER 1000
# Requests live for milliseconds: a young generation with room for them lets most die before they are copied. A worker
# drained 12 to 25 % more with 64 MiB than with Node's 16 (up to 150 MB more memory under load).
ENTRYPOINT ["node", "--enable-source-maps", "--max-semi-space-size=64", "apps/cli/dist/main.js"]
CMD ["--help"]
