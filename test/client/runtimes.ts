// Every runtime that the package is for: the machine's Node, this Bun, and others from npm, which
// are installed for the test alone.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { output, QUIET } from './packed.ts';

const NODES = ['20.20.2', '22.23.3', '24.21.0'];
const DENO = '2.9.6';
const INSTALLED = 'the Node that is installed';
const nodeName = (version: string): string => `Node ${version}`;

export const RUNTIMES = [
  INSTALLED,
  ...NODES.map(nodeName),
  `Deno ${DENO}`,
  `Bun ${Bun.version}`,
] as const;

/**
 * How each is called, by its name.
 *
 * @throws Error with what npm said, where one cannot be had: none is left out
 */
export async function installRuntimes(
  place: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { platform, arch } = process;
  const deno = platform === 'linux' ? `linux-${arch}-glibc` : `${platform}-${arch}`;
  const wanted = [
    ...NODES.map((version) => `node-${version}@npm:node-${platform}-${arch}@${version}`),
    `deno@npm:@deno/${deno}@${DENO}`,
  ];
  const directory = join(place, 'runtimes');
  mkdirSync(directory);
  await Bun.write(join(directory, 'package.json'), '{"private": true}');
  await output(['npm', 'install', ...QUIET, '--ignore-scripts', ...wanted], { directory });
  const program = (...path: string[]): string => join(directory, 'node_modules', ...path);
  return new Map<string, readonly string[]>([
    [INSTALLED, ['node']],
    ...NODES.map(
      (version) => [nodeName(version), [program(`node-${version}`, 'bin/node')]] as const,
    ),
    [`Deno ${DENO}`, [program('deno', 'deno'), 'run', '--allow-all']],
    [`Bun ${Bun.version}`, [process.execPath]],
  ]);
}
