import { Type } from '@sinclair/typebox';
import { type ErrorCode, STATUS_OF } from '../edge/errors.ts';

/** The closed list, in the order of STATUS_OF. */
export const ErrorType = Type.Union(
  (Object.keys(STATUS_OF) as ErrorCode[]).map((code) => Type.Literal(code)),
);

/** What is wrong, and where. */
export const Issue = Type.Object({ path: Type.Array(Type.String()), message: Type.String() });

export const Issues = Type.Array(Issue);

export const ErrorDetail = Type.Object({
  type: ErrorType,
  message: Type.String({ description: 'For people; it may change.' }),
  issues: Type.Optional({
    ...Issues,
    description: 'With `invalid_request`: what is wrong, and where.',
  }),
});

/** The body of every refusal. */
const Refusal = Type.Object({ error: ErrorDetail });

export { Refusal as Error };
