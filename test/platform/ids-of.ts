// Who a process is.
import { readdirSync, readFileSync } from 'node:fs';

/** The real, effective, saved and file-system ids, of user and group, of each of its threads. */
export function idsOf(pid: number): ReadonlySet<number> {
  const threads = readdirSync(`/proc/${pid}/task`);
  const lines = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8').match(/^(?:Uid|Gid|Groups):.*/gm),
  );
  return new Set(lines.flatMap((line) => line!.match(/\d+/g)!.map(Number)));
}
