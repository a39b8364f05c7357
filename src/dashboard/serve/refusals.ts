// Refusals of the API, as the dashboard's handlers meet and make them.
import { InvalidRequestError, TollhouseError } from '../../client/index.ts';

/** As the API refuses a field: the form is shown again, with the message beside it. */
export function wrongField(name: string, message: string): TollhouseError {
  const issues = [{ path: [name], message }];
  return new InvalidRequestError('This value cannot be read.', {
    type: 'invalid_request',
    status: 400,
    issues,
  });
}

/** The answer, or null where there is no such thing. */
export async function orNone<T>(answer: PromiseLike<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TollhouseError && error.status === 404) return null;
    throw error;
  }
}
