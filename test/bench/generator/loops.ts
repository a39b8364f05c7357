// The two ways to send. A closed loop finds the highest rate, but hides how long a stall would have
// delayed other requests (coordinated omission). An open loop sends on a schedule and counts each
// latency from the scheduled time, so that a stall counts for every request that it delays.
import { Histogram } from '../histogram.ts';
import { type Lane, Lanes } from './lane.ts';
import type { LoadPlan } from './plan.ts';
import { requestsOf } from './requests.ts';

const DRAIN_MS_MAX = 10_000;
const MICROS_PER_MS = 1000;
/** The system adds 0.07 ms to each wait. */
const NAP_MS = 0.02;
const NEVER_CHANGED = new Int32Array(new SharedArrayBuffer(4));

export interface Outcome {
  readonly lanes: Lanes;
  readonly latency: Histogram;
  readonly lateness: Histogram;
  readonly completed: number;
}

interface Timetable {
  readonly startAt: number;
  readonly measureFrom: number;
  readonly endAt: number;
}

export async function closedLoop(plan: LoadPlan): Promise<Outcome> {
  const next = requestsOf(plan);
  const latency = new Histogram();
  let time: Timetable = { startAt: 0, measureFrom: 0, endAt: 0 };
  const lanes = new Lanes(plan.ports, {
    answered(since) {
      const now = performance.now();
      if (now < time.endAt && now >= time.measureFrom)
        latency.record((now - since) * MICROS_PER_MS);
    },
    free(lane) {
      const now = performance.now();
      if (now < time.endAt) lanes.send(lane, next(), now);
    },
  });
  await lanes.open(plan.connections);
  time = timetable(plan);
  for (const lane of lanes.lanes) lanes.send(lane, next(), performance.now());
  while (performance.now() < time.endAt && lanes.isAlive()) await Bun.sleep(20);
  await drain(lanes);
  return { lanes, latency, lateness: new Histogram(), completed: latency.count };
}

export async function openLoop(plan: LoadPlan, ratePerSecond: number): Promise<Outcome> {
  const next = requestsOf(plan);
  const gapMs = 1000 / ratePerSecond;
  const [latency, lateness] = [new Histogram(), new Histogram()];
  const idle: Lane[] = [];
  /** Scheduled times for which no connection was free. */
  const waiting: number[] = [];
  let waitingFrom = 0;
  let time: Timetable = { startAt: 0, measureFrom: 0, endAt: 0 };
  const lanes = new Lanes(plan.ports, {
    answered(since) {
      if (since >= time.measureFrom) latency.record((performance.now() - since) * MICROS_PER_MS);
    },
    free(lane) {
      const due = waiting[waitingFrom];
      if (due === undefined) {
        idle.push(lane);
        return;
      }
      waitingFrom += 1;
      lanes.send(lane, next(), due);
    },
  });
  await lanes.open(plan.connections);
  idle.push(...lanes.lanes);
  time = timetable(plan);
  let sent = 0;
  for (let due = time.startAt; due < time.endAt && lanes.isAlive();) {
    const now = performance.now();
    for (; due <= now && due < time.endAt; due = time.startAt + sent * gapMs) {
      sent += 1;
      const lane = idle.pop();
      if (lane === undefined) {
        waiting.push(due);
        continue;
      }
      lateness.record((now - due) * MICROS_PER_MS);
      lanes.send(lane, next(), due);
    }
    await nap();
  }
  await drain(lanes, () => waiting.length - waitingFrom);
  for (; waitingFrom < waiting.length; waitingFrom += 1) lanes.fail('a request was never sent');
  return { lanes, latency, lateness, completed: latency.count };
}

function timetable(plan: LoadPlan): Timetable {
  const startAt = performance.now();
  const measureFrom = startAt + plan.warmUpMs;
  return { startAt, measureFrom, endAt: measureFrom + plan.measureMs };
}

/**
 * Lets the sockets be served, and sleeps for a tenth of a millisecond. A timer sleeps for ten times
 * as long, and a busy loop would take a processor from the server. Answers are seen that much
 * later.
 */
async function nap(): Promise<void> {
  Atomics.wait(NEVER_CHANGED, 0, 0, NAP_MS);
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

async function drain(lanes: Lanes, waiting = (): number => 0): Promise<void> {
  const deadline = performance.now() + DRAIN_MS_MAX;
  while (lanes.inFlight() + waiting() > 0 && lanes.isAlive() && performance.now() < deadline) {
    await Bun.sleep(2);
  }
  for (let left = lanes.inFlight(); left > 0; left -= 1) lanes.fail('a request got no answer');
  lanes.close();
}
