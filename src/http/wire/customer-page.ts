// The parameters of the lists of what a customer has, by feature.
import { Type } from '@sinclair/typebox';
import { CUSTOMER_ROWS_MAX } from '../../platform/answer-bounds.ts';
import { Nullable } from './values.ts';

export const CUSTOMER_PAGE = {
  feature_key: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: CUSTOMER_ROWS_MAX,
      default: CUSTOMER_ROWS_MAX,
      error: `must be a whole number from 1 to ${CUSTOMER_ROWS_MAX}`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 512, description: '`next_cursor` of the page before.' }),
  ),
};

export const NextCursor = Nullable(
  Type.String({
    description:
      'Where the next page begins. null: there are no more. A page ends before `limit` rows ' +
      'if the next row would exceed 1 MiB.',
  }),
);
