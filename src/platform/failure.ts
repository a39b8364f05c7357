/** A required service is not available. The message is one line for the operator. */
export class ServiceFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(
      message
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '')
        .join(' '),
      options,
    );
    this.name = 'ServiceFailure';
  }
}
