/** A service that we need cannot be had. The message is one line for whoever started us. */
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
