import { type FileHandle, mkdir, open, rm, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The append-only file of one spool. Every operation may reject; calls must not overlap. */
export type SpoolFile = {
  readonly path: string
  /** Appends and forces it to the disk. */
  readonly append: (text: string) => Promise<void>
  /** Replaces the whole content. */
  readonly replace: (text: string) => Promise<void>
  /** Says that its owner lives; opens it again when somebody took it away. */
  readonly touch: () => Promise<void>
  readonly close: (remove: boolean) => Promise<void>
}

/** Made on the disk with the first line, so that a quiet process leaves nothing behind. */
export function createSpoolFile(path: string): SpoolFile {
  let handle: FileHandle | null = null

  const opened = async (): Promise<FileHandle> => {
    if (handle === null) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      handle = await open(path, 'a', 0o600)
    }
    return handle
  }
  const append = async (text: string): Promise<void> => {
    const file = await opened()
    await file.appendFile(text)
    await file.datasync()
  }
  const closeHandle = async (): Promise<void> => {
    const file = handle
    handle = null
    await file?.close()
  }

  return {
    path,
    append,
    replace: async (text) => {
      await (await opened()).truncate(0)
      if (text !== '') await append(text)
    },
    touch: async () => {
      if (handle === null) return
      const now = new Date()
      // By path: a file that another process adopted is gone from here, and the next append makes a new one.
      await utimes(path, now, now).catch(closeHandle)
    },
    close: async (remove) => {
      const existed = handle !== null
      await closeHandle()
      if (remove && existed) await rm(path, { force: true })
    },
  }
}
