export * from './preset.js'
