// Amounts of the API, told apart without a double.

/** Whether it is nothing: "0", "0.00". */
export const isNone = (amount: string): boolean => /^-?0(?:\.0+)?$/.test(amount);
