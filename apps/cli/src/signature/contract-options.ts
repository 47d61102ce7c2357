import { PRESET_NAMES } from '@counterfoil/sources'
import { type Command, Option } from 'commander'
import { collectOption, parseHttpUrl } from '../terminal/parse-options.js'

/** Whose signature it is, and where its key is. */
export type ContractOptions = {
  source?: string
  preset?: string
  option: ReadonlyMap<string, string>
  topic?: string
  audience?: string
  serviceAccount?: string
  url?: string
  secretEnv?: string
  secretFile?: string
  config?: string
}

/** A secret is named and never typed: a command line stays in histories and process lists. */
export function addContractOptions(command: Command): Command {
  return command
    .option('--source <name>', 'as configured, with its keys and public URL')
    .option('--preset <name>', `or a sender without a configuration: ${PRESET_NAMES.join(', ')}`)
    .option('--secret-env <variable>', "with --preset: the variable that holds the secret, in the sender's own form")
    .option('--secret-file <file>', 'with --preset: the file that holds it')
    .addOption(
      new Option('--url <url>', "the public URL exactly as the sender has it; default the source's").argParser(
        parseHttpUrl,
      ),
    )
    .option('--topic <arns>', 'with --preset sns: the topics that count, separated by commas')
    .option('--audience <texts>', "with --preset pubsub or cloudTasks: the token's audience; default the URL")
    .option('--service-account <emails>', 'with --preset pubsub or cloudTasks: who pushes')
    .addOption(
      new Option('--option <name=value>', 'a further option of the preset, as in the configuration; may be repeated')
        .argParser(collectOption)
        .default(new Map(), 'none'),
    )
    .option('--config <file>', 'another file than COUNTERFOIL_CONFIG')
}
