// The format of server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html

export interface Message {
  event: string;
  data: string;
  /** The last `id` seen, this message's or an earlier one's. */
  id: string;
}

/** Reads messages out of text that comes in pieces, cut anywhere. */
export class MessageReader {
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id = "";

  /** The messages that this piece completes. */
  read(piece: string): Message[] {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): Message[] {
    if (line === "") return this.#end();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "event") this.#event = value;
    else if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    return [];
  }

  #end(): Message[] {
    const [event, data] = [this.#event, this.#data];
    this.#event = "";
    this.#data = [];
    return data.length === 0 ? [] : [{ event: event === "" ? "message" : event, data: data.join("\n"), id: this.#id }];
  }
}
