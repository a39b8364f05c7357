/** A service that we need cannot be had. The message is one line for whoever started us. */
export class ServiceFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*\n\s*/g, ' ').trim(), options);
    this.name = 'ServiceFailure';
  }
}
