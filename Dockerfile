# Image of the service. Reference: docs/guide/install.md#docker
#   docker build -t record-data-service:0.2.0 .
# Another base, such as one pinned by digest: --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:...
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

# Builds the package, on the machine's own processor whatever the image's.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
ENV CI=true
WORKDIR /src
COPY package.json package-lock.json ./
COPY console/package.json console/package-lock.json console/
# No package needs its install script to build.
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund \
 && npm ci --include=dev --ignore-scripts --no-audit --no-fund --prefix console
COPY . .
RUN npm pack --silent --pack-destination /tmp && mkdir /app /data /functions \
 && tar -xzf /tmp/record-data-service-*.tgz --strip-components=1 -C /app

# Adds the packages that the service needs when it runs, in the versions of npm-shrinkwrap.json and for the image's processor.
FROM build AS packages
ARG TARGETARCH=amd64
WORKDIR /app
RUN npm pkg delete devDependencies \
 && npm ci --ignore-scripts --no-audit --no-fund --os=linux --libc=glibc --cpu=$([ "$TARGETARCH" = amd64 ] && echo x64 || echo "$TARGETARCH")

FROM ${NODE_IMAGE}
ARG REVISION=unknown
ARG NODE_IMAGE
LABEL org.opencontainers.image.title="Record Data Service" \
      org.opencontainers.image.description="A table-oriented record store for CRM systems, served over REST." \
      org.opencontainers.image.version="0.2.0" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${NODE_IMAGE}"
# The service installs nothing, so it needs no package manager.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn* \
 && ln -s /app/bin/record-service.mjs /usr/local/bin/record-service
COPY --from=packages /app /app
# The user `node` of the base image, by number, so that an orchestrator can tell that it is not root.
COPY --from=packages --chown=1000:1000 /data /data
COPY --from=packages --chown=1000:1000 /functions /functions
USER 1000:1000
WORKDIR /app
# The root file system may be read-only: the service writes to DATA_DIR and, if it can, to /tmp.
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/tmp/node-compile-cache \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data \
    FUNCTIONS_DIR=/functions
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node is process 1: the service handles SIGTERM, SIGINT and SIGHUP, and waits for all processes that it starts.
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "/app/dist/main.js"]
CMD ["start"]
