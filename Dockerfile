# The service, with PostgreSQL and Redis elsewhere: neither is in the image. src/OPERATIONS.md says how it is run.
FROM node:22-bookworm-slim AS build
RUN npm install --global --no-audit --no-fund bun@1.4.5
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
COPY patches patches
RUN bun install --frozen-lockfile --production --omit=optional

# Bun is one file that brings its own certificates; nothing of Node or npm is left.
FROM debian:bookworm-slim
COPY --from=build /usr/local/lib/node_modules/bun/bin/bun.exe /usr/local/bin/bun
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin tollhouse
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY package.json bunfig.toml tsconfig.json ./
COPY ledger ledger
COPY src src
COPY workers workers
USER tollhouse
ENV NODE_ENV=production
EXPOSE 3000
# /health, not /ready: a node that cannot serve now is well, and must not be ended for it. /ready is for whoever sends it requests.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["bun", "-e", "process.exit((await fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/health')).ok ? 0 : 1)"]
# Without a shell between, so that SIGTERM reaches it.
CMD ["bun", "src/main.ts"]
