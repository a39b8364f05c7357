// What npm is told of the package.
import { VERSION } from '../client/version.ts';

/**
 * The package's own version, not the service's: a client works with every service of the same
 * contract.
 */
export function manifestOf(repository: string | null): object {
  const types = './types/index.d.ts';
  const browser = { types: './types/browser.d.ts', default: './browser.js' };
  const entry = { browser, types, default: './index.js' };
  return {
    name: 'tollhouse',
    version: VERSION,
    description: 'Check and track usage, and call every route of Tollhouse: a client and a command',
    license: 'UNLICENSED',
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20', bun: '>=1.2', deno: '>=2' },
    exports: { '.': entry, './client': entry, './package.json': './package.json' },
    types,
    files: ['index.js', 'browser.js', 'tollhouse.js', 'types'],
    bin: { tollhouse: './tollhouse.js' },
    publishConfig: { access: 'public', provenance: true },
    ...(repository !== null && {
      repository: { type: 'git', url: `git+${repository}.git`, directory: 'src/client' },
    }),
  };
}

const HOSTED = /^(?:git@|(?:https|ssh|git):\/\/(?:[^@/]*@)?)([\w.-]+)[:/]([\w./-]+?)(?:\.git)?\/?$/;

/**
 * Where the code is, as npm's provenance wants it: without the password that a remote may have.
 *
 * @param remote as `git remote get-url` prints it; null where that is on this machine
 */
export function repositoryOf(remote: string): string | null {
  const [, host, path] = HOSTED.exec(remote.trim()) ?? [];
  return host === undefined || path === undefined ? null : `https://${host}/${path}`;
}
