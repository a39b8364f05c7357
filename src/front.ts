// The HTTP ports of a node: its own, and one for its operators.
//
// listening ──close()──▶ leaving ──quiet, or LEAVE_MS_MAX──▶ closed
//
// Holds: while it leaves it answers everything, /ready says 503, and each answer ends its
// connection. So callers and load balancers go to the other nodes, and the connections that it
// closes at last are idle: a caller that sends on a closing connection cannot know whether the
// request arrived. Answers that stay open end first.
// Does not: wait where there is no other node, since no other node would answer.
import type { Config } from './config.ts';
import { clock } from './platform/clock.ts';
import { claimPort, listenOn } from './platform/net/listen.ts';
import type { Service } from './service.ts';

/** A load balancer that asks /ready every second has noticed by then. */
const LEAVE_MS_MAX = 3000;
const QUIET_MS = 250;
const IDLE_MS_MAX = 1000;
const LOOK_MS = 10;

export type Front = {
  /** Resolves when everything that came in is answered, and nothing comes in any more. */
  close(): Promise<void>;
};

export type FrontConfig = Pick<Config, 'port' | 'host' | 'reusePort' | 'metricsPort' | 'node'>;

type FrontService = Pick<Service, 'app' | 'operatorsApp' | 'endStreams' | 'leave'>;

/**
 * Called before a node joins: customers of a node that cannot listen would wait. @throws
 * ServiceFailure where a port is in use
 */
export async function claimPorts({
  port,
  host,
  reusePort,
  metricsPort,
}: FrontConfig): Promise<void> {
  if (!reusePort) await claimPort({ port, setBy: 'PORT' }, host);
  if (metricsPort !== undefined) {
    await claimPort({ port: metricsPort, setBy: 'METRICS_PORT' }, host);
  }
}

/** @throws ServiceFailure where a port is in use */
export function openFront(service: FrontService, config: FrontConfig): Front {
  const { app, operatorsApp } = service;
  const { port, host: hostname, reusePort, metricsPort } = config;
  listenOn({ port, setBy: 'PORT' }, () => app.listen({ port, hostname, reusePort }));
  if (metricsPort !== undefined) {
    // Elysia would share the port with another process, and a scrape would reach either.
    listenOn({ port: metricsPort, setBy: 'METRICS_PORT' }, () =>
      operatorsApp.listen({ port: metricsPort, hostname, reusePort: false }),
    );
  }
  return {
    async close() {
      service.endStreams();
      if (config.node !== undefined) await untilQuiet(service);
      await untilStopped(service);
      await operatorsApp.server?.stop(true);
    },
  };
}

/** A connection that its caller left half open would delay it until its idle timeout. */
async function untilStopped({ app }: FrontService): Promise<void> {
  await Promise.race([app.server?.stop(), Bun.sleep(IDLE_MS_MAX)]);
  while ((app.server?.pendingRequests ?? 0) > 0) await Bun.sleep(LOOK_MS);
  await app.server?.stop(true);
}

async function untilQuiet({ app, leave }: FrontService): Promise<void> {
  const answered = leave();
  const end = clock.monotonic() + LEAVE_MS_MAX;
  let [known, since] = [answered(), clock.monotonic()];
  while (clock.monotonic() < Math.min(end, since + QUIET_MS)) {
    await Bun.sleep(LOOK_MS);
    if (answered() === known && app.server?.pendingRequests === 0) continue;
    [known, since] = [answered(), clock.monotonic()];
  }
}
