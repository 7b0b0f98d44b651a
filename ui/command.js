// Commands to type in a terminal, for this server: one that is not where commands look first is named in them.
const PORT = "8122"; // where a server is started, and looked for, unless one says otherwise

/**
 * @param {string} command
 * @param {{origin: string, protocol: string, port: string}} [at] where this page came from
 * @returns {string} the command with `--url` or `--port`, where it needs one
 */
export function here(command, { origin, protocol, port } = location) {
  const own = port || (protocol === "https:" ? "443" : "80");
  if (own === PORT || /\s--(?:url|port)\b/.test(command)) return command;
  if (command.startsWith("bench ")) return `${command} --url ${origin}`;
  return /^python3 serve\.py\b/.test(command) ? `${command} --port ${own}` : command;
}
