"""The microphone's front end: operators of TensorFlow Lite Micro's signal library, bit for bit, with portable C."""
