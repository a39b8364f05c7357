// The OpenAPI document under a linter.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { openApiOf } from '../../src/http/openapi/openapi.ts';
import { listRoutes } from './edge/operations.ts';

setDefaultTimeout(60_000);

const ADDRESSES = {
  baseUrl: 'https://pay.acme.io',
  appUrl: 'https://app.acme.io',
  checkoutUrl: 'https://buy.acme.io/pay',
};

/** Recommended rules that are broken, and why. */
const BROKEN: Readonly<Record<string, string>> = {
  'info-license #/info': 'no license is given',
  // A form redirects with 303.
  'operation-2xx-response #/paths/~1portal~1{token}~1payment-method/post/responses': 'a form',
  'operation-2xx-response #/paths/~1sandbox~1challenges~1{key}/post/responses': 'a form',
  'operation-2xx-response #/paths/~1buy-links~1{product_id}/post/responses': 'a form',
  // These need no authentication.
  'operation-4xx-response #/paths/~1health/get/responses': 'nothing is refused',
  'operation-4xx-response #/paths/~1ready/get/responses': 'nothing is refused',
  'operation-4xx-response #/paths/~1openapi.json/get/responses': 'nothing is refused',
  'operation-4xx-response #/paths/~1docs/get/responses': 'nothing is refused',
  'operation-4xx-response #/paths/~1embed.js/get/responses': 'nothing is refused',
};

test('the OpenAPI linter finds no error, and warns of expected points alone', async () => {
  const source = JSON.stringify(openApiOf(listRoutes(), ADDRESSES));
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      'no-invalid-schema-examples': 'error',
      'no-invalid-media-type-examples': 'error',
      'no-invalid-parameter-examples': 'error',
      'operation-operationId': 'error',
    },
  });
  const problems = await lintFromString({ source, config, absoluteRef: '/openapi.json' });
  const found = problems.map(
    ({ severity, ruleId, message, location: [at] }) =>
      [`${ruleId} ${at?.pointer}`, `${severity}: ${message}`] as const,
  );
  expect(found.filter(([where]) => BROKEN[where] === undefined)).toEqual([]);
  expect(new Set<string>(found.map(([where]) => where))).toEqual(new Set(Object.keys(BROKEN)));
});
