// docs/spec and the OpenAPI document name the same operations, events and codes of errors.
import { describe, expect, test } from 'bun:test';
import { openApiOf } from '../../src/http/openapi/openapi.ts';
import { listRoutes } from '../http/edge/operations.ts';
import { specFaults } from './spec-text.ts';
import { readTree } from './tree.ts';

const SPEC = 'docs/spec/';

const document = openApiOf(listRoutes(), {
  baseUrl: 'http://localhost',
  appUrl: 'http://localhost',
  checkoutUrl: 'http://localhost/pay',
});

const tree = await readTree();
const spec = new Map([...tree].filter(([path]) => path.startsWith(SPEC)));
const variables = tree.get('src/variables.ts')!;

/** What is wrong once each text of the specification has changed. */
function faultsWith(change: (text: string) => string): string[] {
  const changed = new Map([...spec].map(([path, text]) => [path, change(text)]));
  return specFaults({ spec: changed, document, variables });
}

test('the specification and the OpenAPI document name the same', () => {
  expect(specFaults({ spec, document, variables })).toEqual([]);
});

describe('a planted fault is seen', () => {
  test.each(['GET /refunds/{id}', 'alert.recovered', 'method_not_allowed'])(
    'no document names %s',
    (name) => {
      const faults = faultsWith((text) => text.replaceAll(name, 'that'));
      expect(faults).toEqual([`${name} is not named in docs/spec`]);
    },
  );

  test.each(['POST /meters/{id}/reset', 'payment.captured', 'carry_over', 'RETENTION_FOR_EVER'])(
    'a document names %s, which does not exist',
    (name) => {
      const faults = faultsWith((text) => `${text}\nSee \`${name}\`.\n`);
      expect(faults).toEqual([...spec.keys()].map((path) => `${path}: ${name} does not exist`));
    },
  );
});
