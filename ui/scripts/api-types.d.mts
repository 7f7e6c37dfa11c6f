export function generate(): Promise<string>;
export function current(): Promise<string>;
