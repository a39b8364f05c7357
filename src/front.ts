// Where the service is heard: its port, and one of this process alone for its operators.
//
//   listening ──close()──▶ leaving ──quiet, or LEAVE_MS_MAX──▶ closed
//
// Holds: while it leaves it answers everything, says 503 on /ready, and ends each connection with its answer. So callers and load
// balancers go to the other nodes by themselves, and what is closed at last is idle: whoever sends on a connection in the moment
// in which it is closed cannot know whether that was heard.
// Does not: wait where there is no other node. Nobody else would answer.
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

type FrontService = Pick<Service, 'app' | 'operatorsApp' | 'leave'>;

/** For before a node joins: one that joined and cannot be heard keeps its customers waiting. @throws ServiceFailure where a port is in use */
export async function claimPorts({
  port,
  host,
  reusePort,
  metricsPort,
}: FrontConfig): Promise<void> {
  if (!reusePort) await claimPort(port, host);
  if (metricsPort !== undefined) await claimPort(metricsPort, host);
}

/** @throws ServiceFailure where a port is in use */
export function openFront(service: FrontService, config: FrontConfig): Front {
  const { app, operatorsApp } = service;
  const { port, host: hostname, reusePort, metricsPort } = config;
  listenOn(port, () => app.listen({ port, hostname, reusePort }));
  if (metricsPort !== undefined) {
    // Elysia would share it with whoever has it already, and a scrape would reach any of them.
    listenOn(metricsPort, () =>
      operatorsApp.listen({ port: metricsPort, hostname, reusePort: false }),
    );
  }
  return {
    async close() {
      if (config.node !== undefined) await untilQuiet(service);
      await untilStopped(service);
      await operatorsApp.server?.stop(true);
    },
  };
}

/** A connection that its caller has left half open would hold it up for as long as it may be idle. */
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
